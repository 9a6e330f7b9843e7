from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.peers.upstream import Handler, result
from tests.sites.gateway import MANIFEST, Gateway, serve_gateway

ROOT = Path(__file__).resolve().parents[3]
COMMAND = ROOT / ".venv-judges" / "llm_comply" / "bin" / "llm-comply"
MODELS = {"anthropic": "claude-sonnet-4-judged"}
MODEL = "gpt-5-judged"
"""The judge requests reasoning only from models with such names."""
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
for slug in slugs:
    Application.objects.create(slug=slug, title="Judged", manifest=manifest)
result = ApiKey.objects.create_key(name="judge")[1]
"""

Judge = Callable[[str], dict[str, Any]]


class CallingHandler(Handler):
    """Calls the tool that the judge offers, and repeats other questions."""

    def wish(self, body: dict[str, Any]) -> list[str]:
        words = super().wish(body)
        if words[:2] == ["What", "is"] and "*" in words:
            return ["think", "reasoning_content", *words]
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        if "get_weather" not in names or result(body) is not None:
            return words
        return ["call", "get_weather", json.dumps({"location": "San Francisco"})]


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serve_gateway(tmp_path_factory.mktemp("judged"), CallingHandler) as served:
        yield served


@pytest.fixture(scope="session")
def judge(gateway: Gateway) -> Judge:
    """Run the judge for a format and return its report."""
    if not COMMAND.exists():
        pytest.skip("llm-comply tests skipped: make .venv-judges/llm_comply/stamp")
    key = gateway.site.shell(PREPARE, slugs=[MODEL, *MODELS.values()], manifest=MANIFEST)

    def run(format: str) -> dict[str, Any]:
        address = ("-u", f"{gateway.url}/v1", "-k", key, "-m", MODELS.get(format, MODEL))
        command = (COMMAND, "--format", format, *address, "--json")
        done = subprocess.run(command, capture_output=True, text=True, timeout=100)
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    return run


def verdicts(report: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    """Return the status and complaints of each case."""
    return {
        case["id"]: (case["status"], [*case.get("errors", ()), *case.get("warnings", ())])
        for case in report["results"]
    }
