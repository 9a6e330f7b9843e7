"""The compatibility kit of the A2A project judges an application as an agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.judges.a2a_tck.scenarios import RelayTarget, ScenarioHandler, serve_relay
from tests.peers.upstream import serve_upstream
from tests.sites.gateway import MANIFEST
from tests.sites.serving import serve

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parents[2] / ".venv-judges" / "a2a_tck"
KIT = ENVIRONMENT / "source"
SLUG = "judged"
JUDGED = {
    **MANIFEST,
    "features": {
        "questions": {},
        "input_attachment_types": ["text/plain", "application/json"],
    },
}
PREPARE = """
from apps.accounts.models import ApiKey
from apps.catalog.models import Application
from apps.workspace.local.models import Deployment
Deployment.objects.create(
    deployment_id="upstream", display_name="Upstream", base_url=url, model_name="m", api_key="k"
)
Application.objects.create(slug=slug, title="Judged", description="Judged.", manifest=manifest)
result = ApiKey.objects.create_key(name="judge")[1]
"""


@pytest.mark.timeout(600)
@pytest.mark.slow("the kit waits ten seconds for each of its streams that stay open")
def test_every_requirement_that_is_a_must_is_met(tmp_path: Path):
    if not KIT.exists():
        pytest.skip("A2A kit skipped: make .venv-judges/a2a_tck/stamp")

    failed, passed = run_kit(tmp_path)

    assert failed == expected_failures()
    assert passed > 100


def run_kit(folder: Path) -> tuple[set[str], int]:
    """Return the names of the failed test cases, and the number of passed ones."""
    target, report = RelayTarget(), folder / "report.xml"
    with serve_upstream(ScenarioHandler) as upstream, serve_relay(target) as relay:
        options = {"PUBLIC_URL": relay, "A2A_PUSH_PRIVATE_HOSTS": "localhost,127.0.0.1"}
        with serve(folder, **options) as site:
            target.key = site.shell(PREPARE, url=upstream.url, slug=SLUG, manifest=JUDGED)
            target.url = site.url
            address = f"--sut-host={relay}/a2a/{SLUG}"
            done = subprocess.run(
                [
                    *(ENVIRONMENT / "bin" / "python", "-m", "pytest", "tests/compatibility"),
                    *(address, "--transport=jsonrpc,http_json", "-m", "must", "-q"),
                    *("--tb=short", f"--junitxml={report}", "-p", "no:cacheprovider"),
                ],
                cwd=KIT,
                env={**os.environ, "PYTHONPATH": str(KIT)},
                capture_output=True,
                text=True,
                timeout=560,
            )
    (folder / "kit.log").write_text(done.stdout + done.stderr)
    assert report.exists(), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {name_of(case) for case in cases if case.find("failure") is not None}
    skipped = sum(case.find("skipped") is not None for case in cases)
    return failed, len(cases) - len(failed) - skipped


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def expected_failures() -> set[str]:
    lines = (HERE / "expected_failures.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}
