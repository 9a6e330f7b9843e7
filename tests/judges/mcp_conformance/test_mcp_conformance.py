"""The conformance suite of MCP judges the server in both of its revisions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sites.serving import Site, serve_process

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "node_modules" / ".bin"
pytestmark = pytest.mark.skipif(
    not (PROGRAMS / "conformance").exists(),
    reason="MCP conformance tests skipped: make tests/judges/mcp_conformance/node_modules/stamp",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    module = "tests.judges.mcp_conformance.fixture_site"
    folder = tmp_path_factory.mktemp("mcp")
    # The tool with which a model asks its user is a preview feature.
    with serve_process(folder, module, ["{port}"], ENABLE_PREVIEW_FEATURES="true") as (served, _):
        yield served


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
def test_every_required_scenario_passes_that_applies(site: Site, revision: str, tmp_path: Path):
    done = subprocess.run(
        [
            *(PROGRAMS / "node", PROGRAMS / "conformance", "server"),
            *("--requirements", revision, "--url", f"{site.url}/mcp", "-o", tmp_path),
            *("--expected-failures", FOLDER / f"expected-failures.{revision}.yml"),
        ],
        capture_output=True,
        text=True,
        timeout=240,
    )

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
