"""The benchmark of large installations with few rows, its plots, and its definition of growth."""

from __future__ import annotations

import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from benchmarks.scale.plots import plot
from benchmarks.scale.soak import Samples
from tests.services import absence
from tests.sites.fork_server import ROOT

SECONDS = 600
PAGES = ("largest owner", "auditentry", "runsummary", "savedprompt", "usagesum")


@pytest.mark.full
@pytest.mark.slow("fills a database, and asks for many pages")
@pytest.mark.timeout(900)
def test_pages_of_a_synthetic_installation_ask_a_bounded_number_of_queries():
    if reason := absence("postgres"):
        pytest.skip(reason)
    command = [sys.executable, "-m", "benchmarks.scale", "pages", "--smoke"]

    done = subprocess.run(
        [*command, "--scale", "0", "--rounds", "1", "--only", *PAGES],
        cwd=ROOT,
        env={**os.environ, "DEBUG": "true"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (done.returncode, "missed:" in done.stdout) == (0, False), done.stdout + done.stderr


def samples(*values: float) -> Samples:
    hours = [6.0 * number for number in range(1, len(values) + 1)]
    return Samples(hours, {"rows": [*values]})


def test_growth_is_that_after_the_warm_up():
    flat = samples(10, 50, 90, 100, 100, 100, 100, 100)
    growing = samples(10, 50, 90, 100, 110, 120, 130, 140)

    assert flat.growth("rows") == 0.0
    assert growing.growth("rows") == pytest.approx(30 / 125)


def test_a_plot_is_an_image_with_a_title():
    root = ElementTree.fromstring(plot("Rows & files", [6, 12], [3, 4]))

    assert root.findtext("{*}title") == "Rows & files"
