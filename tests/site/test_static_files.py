"""Static files are built once for each version, compressed and named by their content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.browser.serving import site_environment
from tests.fork_server import ROOT

BUILD = """
import sys, django
django.setup()
from django.templatetags.static import static
from quickapps_site.static_files import build
build()
print(static("chat/scripts/page.js"))
"""


def start(folder: Path) -> subprocess.Popen[str]:
    environment = {
        **site_environment(folder, 8000),
        "STATIC_DIR": str(folder / "static"),
        "DJANGO_SETTINGS_MODULE": "quickapps_site.settings",
    }
    return subprocess.Popen(
        [sys.executable, "-c", BUILD],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_of_processes_that_start_together_one_builds_and_all_name_the_same_files(
    tmp_path: Path,
) -> None:
    both = [start(tmp_path), start(tmp_path)]
    said = [process.communicate(timeout=300)[0] for process in both]
    later, _ = start(tmp_path).communicate(timeout=300)

    addresses = {text.splitlines()[-1] for text in (*said, later)}
    assert len(addresses) == 1
    name = addresses.pop().removeprefix("/static/")
    assert sorted(path.name for path in (tmp_path / "static").glob(f"{name}*")) == [
        Path(name).name,
        f"{Path(name).name}.br",
        f"{Path(name).name}.gz",
    ]
    assert sum("Building the static files" in text for text in said) == 1
    assert "Building" not in later
