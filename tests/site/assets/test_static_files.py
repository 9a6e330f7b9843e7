"""Static files are built once per version, compressed and named by their content."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from quickapps_site.assets.static_files import BuiltFiles
from tests.sites.fork_server import ROOT
from tests.sites.serving import site_environment

BUILD = """
import os, sys, django
from django.conf import settings
settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
settings.STATICFILES_DIRS = sys.argv[1:]
django.setup()
from django.templatetags.static import static
from quickapps_site.assets.static_files import build

def start():
    if pid := os.fork():
        return pid
    build()
    print(static("page.js"), flush=True)
    os._exit(0)

for together in (2, 1):
    for pid in [start() for _ in range(together)]:
        os.waitpid(pid, 0)
    if together == 2:
        os.unlink(os.path.join(settings.STATIC_ROOT, "built.lock"))
"""
"""Two processes build at the same time, and another one after them."""


@pytest.mark.slow("starts a site in a process of its own")
def test_of_processes_that_start_together_one_builds_and_all_name_the_same_files(
    tmp_path: Path,
) -> None:
    sources, built = tmp_path / "sources", tmp_path / "static"
    sources.mkdir()
    (sources / "page.js").write_text("export const one = 1;\n" * 1_000)
    environment = {
        **site_environment(tmp_path, 8000),
        "STATIC_DIR": str(built),
        "DJANGO_SETTINGS_MODULE": "quickapps_site.settings",
    }

    done = subprocess.run(
        [sys.executable, "-c", BUILD, sources],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )

    first, *others = done.stdout.split()
    assert others == [first] * 2
    name = first.removeprefix("/static/")
    assert sorted(path.name for path in built.glob(f"{name}*")) == [
        name,
        f"{name}.br",
        f"{name}.gz",
    ]
    assert done.stderr.count("Building the static files") == 1
    assert not (built / "built.lock").exists(), "the last process wrote into the folder"


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


def test_bundles_stand_for_what_they_were_made_of_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sources = {
        "chat/scripts/page.js": 'import "./part.js";\n',
        "chat/scripts/part.js": "part();\n",
        "chat/vendor/lit.js": "export const html = 1;\n",
        # Each refers to the other, like a bundle and the files that it loads later.
        "chat/bundles/page.js": 'import{html}from"../vendor/lit.js";import("./late.js");\n',
        "chat/bundles/late.js": 'import{a}from"./page.js";new URL("../vendor/lit.js",import.meta.url);\n',
    }
    description = {
        "bundles": {"chat/scripts/page.js": "chat/bundles/page.js"},
        "imports": {"chat/bundles/page.js": ["chat/vendor/lit.js"]},
        "sources": {
            name: hashlib.sha256(sources[name].encode()).hexdigest()
            for name in ("chat/scripts/page.js", "chat/scripts/part.js")
        },
    }
    texts = {**sources, "chat/bundles/bundles.json": json.dumps(description)}
    monkeypatch.setattr(finders, "find", lambda name: str(tmp_path / name))

    agreeing = collect(tmp_path, texts)
    hashed = agreeing.hashed_files
    bundle = hashed["chat/bundles/page.js"]
    lit = hashed["chat/vendor/lit.js"].rpartition("/")[2]
    late = hashed["chat/bundles/late.js"].rpartition("/")[2]
    assert hashed["chat/scripts/page.js"] == bundle
    assert Path(agreeing.path(bundle)).read_text() == (
        f'import{{html}} from "../vendor/{lit}";import("./{late}");\n'
    )
    assert Path(agreeing.path(hashed["chat/bundles/late.js"])).read_text() == (
        f'import{{a}} from "./{bundle.rpartition("/")[2]}";'
        f'new URL("../vendor/{lit}", import.meta.url);\n'
    )

    of_other_library = collect(
        tmp_path, {**texts, "chat/vendor/lit.js": "export const html = 2;\n"}
    )
    assert of_other_library.hashed_files["chat/bundles/page.js"] != bundle

    differing = collect(tmp_path, {**texts, "chat/scripts/part.js": "other();\n"})
    assert re.fullmatch(
        r"chat/scripts/page\.\w{12}\.js", differing.hashed_files["chat/scripts/page.js"]
    )
    assert "the bundles differ from chat/scripts/part.js" in caplog.text

    monkeypatch.setattr(finders, "find", lambda name: None)
    del texts["chat/bundles/bundles.json"]
    without = collect(tmp_path, texts).hashed_files["chat/scripts/page.js"]
    assert without.startswith("chat/scripts/page.")
    assert "there are no bundles" in caplog.text


def collect(folder: Path, texts: dict[str, str]) -> BuiltFiles:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    built = BuiltFiles(location=folder, base_url="/static/")
    processed = built.post_process({name: (built, name) for name in texts})
    assert [failure for _, _, failure in processed if isinstance(failure, Exception)] == []
    return built
