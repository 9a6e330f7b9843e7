"""The committed third-party browser code is what `tools/vendor` built, with its licences."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("apps/chat/static/chat/vendor", "apps/console/static/console/vendor")
UNHASHED = {"LICENSES.txt", "versions.json"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_vendored_file_has_the_hash_it_was_built_with(folder: str) -> None:
    built = versions(folder)
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (ROOT / folder).iterdir()
        if path.name not in UNHASHED
    }

    assert found == {name: entry["sha256"] for name, entry in built.items()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_vendored_package_comes_with_its_licence(folder: str) -> None:
    licences = (ROOT / folder / "LICENSES.txt").read_text()

    missing = [
        f"{name} {version}"
        for entry in versions(folder).values()
        for name, version in entry["packages"].items()
        if f"\n{name} {version} (" not in licences
    ]

    assert missing == []
    assert "brings no licence text" not in licences


def test_types_are_checked_with_the_versions_that_are_vendored() -> None:
    vendored = json.loads((ROOT / "tools/vendor/package.json").read_text())
    checked = json.loads((ROOT / "tools/scripts/package.json").read_text())["devDependencies"]
    built = {**vendored["dependencies"], **vendored["devDependencies"]}

    shared = checked.keys() & built.keys()
    assert {"lit", "esbuild"} <= shared
    assert {name: checked[name] for name in shared} == {name: built[name] for name in shared}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_vendored_file_names_a_source_map(folder: str) -> None:
    """Hashed static files cannot be collected if a referenced source map is missing."""
    naming = [
        path.name
        for path in (ROOT / folder).iterdir()
        if "sourceMappingURL" in path.read_text("utf-8")
    ]

    assert naming == []


def versions(folder: str) -> dict[str, Any]:
    built: dict[str, Any] = json.loads((ROOT / folder / "versions.json").read_text())
    return built
