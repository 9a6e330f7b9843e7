"""Static files are built once for each version, compressed and named by their content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from quickapps_site.static_files import BuiltFiles
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


def test_scripts_import_others_by_their_hashed_names_and_may_name_the_types_of_each_other(
    tmp_path: Path,
) -> None:
    types_of_two = '/** @typedef {import("./two.js").Two} One */\n'
    types_of_one = '/** @import { One } from "./one.js" */\n/** @type {import("./one.js").One} */\n'
    scripts = {
        "one.js": f"{types_of_two}export const one = 1;\n",
        "two.js": f'{types_of_one}import {{ one }} from "./one.js";\nawait import("./late.js");\n',
        "late.js": 'new URL("./worker.js", import.meta.url);\n',
        "worker.js": "postMessage(1);\n",
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
    built = BuiltFiles(location=tmp_path, base_url="/static/")

    failed = [
        failure
        for _, _, failure in built.post_process({name: (built, name) for name in scripts})
        if isinstance(failure, Exception)
    ]

    assert failed == []
    hashed = built.hashed_files
    assert {name: (tmp_path / hashed[name]).read_text() for name in scripts} == {
        "one.js": scripts["one.js"],
        "two.js": f'{types_of_one}import {{ one }} from "./{hashed["one.js"]}";\n'
        f'await import("./{hashed["late.js"]}");\n',
        "late.js": f'new URL("./{hashed["worker.js"]}", import.meta.url);\n',
        "worker.js": scripts["worker.js"],
    }
    assert len(set(hashed.values()) - set(scripts)) == len(scripts)
