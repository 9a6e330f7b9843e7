"""Render and check the Helm chart. `.venv-peers` runs this, because its packages are 350 MB.

It reads `{"chart": path, "values": {…}, "oldest": "1.27"}` and writes `objects`, `problems`,
`messages` of the linter, and the `error` for values that the chart refuses.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import helm_python as helm
import kubernetes_validate as kubernetes
import yaml


def rendered(chart: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    with helm.Chart.load(chart) as loaded:
        texts = loaded.render(values, name="apps", namespace="default")
    return [
        found
        for name, text in texts.items()
        if name.endswith(".yaml")
        for found in yaml.safe_load_all(text)
        if found
    ]


def problems_of(objects: list[dict[str, Any]], oldest: str) -> list[str]:
    found = []
    for one in objects:
        for version in (oldest, kubernetes.latest_version()):
            try:
                kubernetes.validate(one, version, strict=True)
            except kubernetes.ValidationError as error:
                found.append(f"{one['kind']} {version}: {error}")
    return found


def report(chart: str, values: dict[str, Any], oldest: str) -> dict[str, Any]:
    try:
        objects = rendered(chart, values)
    except helm.HelmError as error:
        return {"objects": [], "problems": [], "messages": [], "error": str(error)}
    messages = helm.lint(chart, strict=True)["messages"]
    return {
        "objects": objects,
        "problems": problems_of(objects, oldest),
        "messages": messages,
        "error": "",
    }


if __name__ == "__main__":
    json.dump(report(**json.load(sys.stdin)), sys.stdout)
