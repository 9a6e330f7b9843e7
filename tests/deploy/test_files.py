"""The files of `deploy/` refer to existing settings and metrics, and pass the available checkers."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import pytest
import yaml

from tests.deploy.tools import program
from tests.sites.fork_server import ROOT

DEPLOY = ROOT / "deploy"
PREFIXES = ("PATH", "PIP_", "PYTHON")
"""Prefixes of variables that other programs read."""
METRIC = re.compile(r"\b(?:quickapps|process)_[a-z_]+")


def named_settings() -> Iterator[str]:
    for path in DEPLOY.glob("compose*.yaml"):
        services = yaml.safe_load(path.read_text())["services"].values()
        for service in services:
            if service["image"] == "quickapps":
                yield from service.get("environment", {})
    image = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    unit = (DEPLOY / "systemd/quickapps@.service").read_text()
    for line in re.findall(r"(?m)^(?:ENV |Environment=)(.*)", image + unit):
        yield from re.findall(r"([A-Z_]+)=", line)
    chart = (DEPLOY / "helm/quickapps/templates/_helpers.tpl").read_text()
    yield from re.findall(r"- name: ([A-Z_]+)$", chart, re.MULTILINE)
    yield from re.findall(
        r"(?m)^    - ([A-Z_]+)$", (DEPLOY / "helm/quickapps/values.yaml").read_text()
    )


def test_only_documented_settings_are_set():
    page = (ROOT / "docs/settings.md").read_text()
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]*)`", page))

    named = {name.removesuffix("_FILE") for name in named_settings()}

    assert {name for name in named - documented if not name.startswith(PREFIXES)} == set()
    assert {"DATABASE_URL", "HOST", "PORT", "SECRET_KEY", "STATIC_DIR"} <= named


def expressions() -> Iterator[str]:
    rules = yaml.safe_load((DEPLOY / "monitoring/alerts.yaml").read_text())
    for group in rules["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads((DEPLOY / "monitoring/dashboard.json").read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_alerts_and_panels_are_made_of_documented_metrics():
    page = (ROOT / "docs/usage.md").read_text()
    documented = set(re.findall(r"`(quickapps_[a-z_]+)`", page))

    asked = {name for text in expressions() for name in METRIC.findall(text)}

    of_process = {name for name in asked if name.startswith("process_")}
    assert {name.removesuffix("_bucket") for name in asked - of_process} == documented
    assert of_process == {
        "process_cpu_seconds_total",
        "process_max_fds",
        "process_open_fds",
        "process_resident_memory_bytes",
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "command",
    [
        ("hadolint", "Dockerfile"),
        ("promtool", "check", "rules", "monitoring/alerts.yaml"),
    ],
    ids=["hadolint", "promtool"],
)
def test_a_checker_finds_nothing(command: tuple[str, ...]):
    checker = program(command[0])
    if checker is None:
        pytest.skip(f"{command[0]} is not installed (make .venv-peers/deploy.stamp).")

    done = subprocess.run([checker, *command[1:]], cwd=DEPLOY, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
