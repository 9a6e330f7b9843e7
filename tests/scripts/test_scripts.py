"""The scripts of the pages, tested in Node. Each failing test is a failed subtest here."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.scripts.pages import write_pages

HERE = Path(__file__).parent
PACKAGES = HERE / "node_modules" / "happy-dom"
COMMAND = json.loads((HERE / "package.json").read_text())["scripts"]["test"]
LONGEST = 240

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(
        not PACKAGES.exists(),
        reason="Script tests skipped: run `npm ci --prefix tests/scripts --ignore-scripts`.",
    ),
]


@pytest.mark.slow("runs all tests of the scripts in Node")
def test_the_scripts_of_the_pages(subtests: pytest.Subtests, tmp_path: Path):
    write_pages()
    report = tmp_path / "report.xml"
    options = ["--test-reporter=junit", f"--test-reporter-destination={report}"]

    ran = subprocess.run(
        [*COMMAND.split(), *options], cwd=HERE, capture_output=True, text=True, timeout=LONGEST
    )

    cases = ElementTree.parse(report).findall(".//testcase")
    failures = [(case.get("name"), case.findtext("failure")) for case in cases]
    for name, failure in failures:
        with subtests.test(name):
            if failure is not None:
                pytest.fail(failure.strip(), pytrace=False)
    output = ran.stdout + ran.stderr
    assert failures, output
    assert ran.returncode == 0 or any(failure for _, failure in failures), output
