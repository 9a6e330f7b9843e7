"""Commands of other programs and Python in the docs refer to what exists."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from quickapps_site import cli
from tests.site.docs.test_docs import BLOCK, PAGES, ROOT, lines_of_code, read

ENVIRONMENT = re.compile(r"(?:sudo )?(?:[A-Z_]+=\S+ )*")
FILES = ("-r", "--requirement", "--constraints", "--constraint", "-f", "--prefix")
"""The options whose value is a file of this repository."""
FROM = {"compose.production.yaml": "deploy", "../compose.production.yaml": "deploy/helm"}
"""The folders in which the docs run commands with these paths."""


def commands(program: str) -> Iterator[list[str]]:
    for page in PAGES:
        for line in lines_of_code(page):
            command = ENVIRONMENT.sub("", line.strip(), count=1)
            if command.startswith(f"{program} "):
                yield shlex.split(re.split(r"\s#", command)[0])


def values_of(words: list[str], *options: str) -> Iterator[str]:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in options:
            yield value if equals else following


def document(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def test_every_file_that_a_command_reads_exists():
    programs = ("pip", "uv", "pipx", "docker", "npm")
    named = {
        path
        for program in programs
        for words in commands(program)
        for word in words
        for path in values_of(shlex.split(word) if word.startswith("--pip-args") else words, *FILES)
    }

    assert [one for one in named if not (ROOT / FROM.get(one, ".") / one).exists()] == []
    assert {"requirements.txt", "requirements-model.txt", "deploy/compose.yaml"} <= named


def test_the_wheel_has_the_version_of_the_project():
    version = re.search(r'(?m)^version = "(.+)"$', (ROOT / "pyproject.toml").read_text())
    assert version is not None
    wheels = [
        word
        for program in ("uv", "pipx", "pip")
        for words in commands(program)
        for word in words
        if word.endswith(".whl")
    ]

    assert set(wheels) == {f"dist/quickapps-{version[1]}-py3-none-any.whl"}


def test_every_service_of_a_composition_exists():
    named, known = set(), set()
    for words in commands("docker"):
        (path,) = values_of(words, "-f")
        services = document(f"deploy/{Path(path).name}")["services"]
        verb = words[words.index(path) + 1]
        known |= services.keys()
        if verb in {"run", "up", "logs", "exec"}:
            following = [
                word for word in words[words.index(verb) + 1 :] if not word.startswith("-")
            ]
            named |= set(following[:1] if verb == "exec" else following)

    assert named - known == set()
    assert {"prepare", "web-1", "worker"} <= named


def test_every_value_of_the_chart_exists():
    values = document("deploy/helm/quickapps/values.yaml")
    ((*_, name, folder),) = [words[:4] for words in commands("helm")]
    unknown = []
    for words in commands("helm"):
        for pair in values_of(words, "--set"):
            found: Any = values
            for key in pair.partition("=")[0].split("."):
                found = found.get(key, ...) if isinstance(found, dict) else ...
            unknown += [pair] if found is ... else []

    assert unknown == []
    assert (name, document(f"{folder}/Chart.yaml")["name"]) == ("quickapps", "quickapps")


def test_every_setting_in_a_secret_of_the_cluster_is_documented():
    settings = set(re.findall(r"`([A-Z][A-Z0-9_]*)`", read(ROOT / "docs/settings.md")))
    named = {
        pair.partition("=")[0]
        for words in commands("kubectl")
        for pair in values_of(words, "--from-literal")
    } | {
        word.split("=")[1]
        for words in commands("kubectl")
        for word in words
        if word.startswith("--from-literal=")
    }

    assert {name for name in named if name.isupper()} - settings == set()
    assert "SECRET_KEY" in named


def test_every_unit_exists():
    units = {words[-1].partition("@")[0] for words in commands("systemctl")}

    assert [name for name in units if not (ROOT / f"deploy/systemd/{name}@.service").exists()] == []
    assert units == {"quickapps"}


def test_the_command_of_the_package_takes_its_printed_arguments(monkeypatch: pytest.MonkeyPatch):
    served: list[list[str]] = []
    managed: list[list[str]] = []

    def serve(words: list[str]) -> int:
        served.append(words)
        return 0

    def manage(words: list[str]) -> int:
        managed.append(words)
        return 0

    monkeypatch.setattr("quickapps_site.serve.main", serve)
    monkeypatch.setattr(cli, "version", lambda name: "0.2.0")  # Only a wheel has a version.
    monkeypatch.setattr(cli, "manage", manage)
    for words in commands("quickapps"):
        monkeypatch.setattr("sys.argv", words)
        try:
            status: object = cli.main()
        except SystemExit as ended:  # `--version`
            status = ended.code
        assert status == 0, words

    assert [] in served
    assert ["--worker"] in served
    assert ["diagnose"] in managed


def test_every_script_of_npm_exists():
    for words in commands("npm"):
        (folder,) = values_of(words, "--prefix")
        scripts = json.loads((ROOT / folder / "package.json").read_text())["scripts"]
        assert words[1] in scripts


def is_known(module: str) -> bool:
    """Return True if a module is installed, or pinned for the tests with other programs."""
    package = module.partition(".")[0]
    pinned = (ROOT / "requirements-peers.txt").read_text()
    return find_spec(package) is not None or f"{package.replace('_', '-')}==" in pinned


def test_python_in_the_docs_compiles_and_imports_what_is_installed():
    missing, blocks = [], 0
    for page in PAGES:
        for block in BLOCK.finditer(read(page)):
            if block["language"] != "python":
                continue
            blocks += 1
            for node in ast.walk(ast.parse(block["text"].replace("…", "..."), page.name)):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.module:
                    names = [node.module]
                missing += [f"{page.name}: {name}" for name in names if not is_known(name)]

    assert missing == []
    assert blocks > 5
