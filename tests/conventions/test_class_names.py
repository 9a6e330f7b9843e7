"""The names of public classes are unique in a package, and the docs name existing classes."""

import asyncio
import builtins
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORK = {"Command"}
"""Names that a framework looks up in several modules."""
SOURCES = [
    path.read_text()
    for room in ("apps", "quickapps_site", "tests")
    for path in sorted((ROOT / room).rglob("*.py"))
    if room != "tests" or not path.name.startswith("test_")
]
CLASS = r"`((?:[A-Z]+[a-z]+)+)[`(.]"
DEFINED = r"^ *class (\w+)|^([A-Z]\w+)(?:: [^=\n]+)? = |^    ([A-Z]\w+),$"
IMPORTED = r"^from \S+ import (\w.*)$"


def test_no_two_public_classes_of_a_room_have_one_name() -> None:
    modules = defaultdict(list)
    for path in sorted((ROOT / "apps").glob("*/**/*.py")):
        if "migrations" not in path.parts:
            place = path.relative_to(ROOT / "apps")
            for name in public_classes(path.read_text()):
                modules[place.parts[0], name].append(place.as_posix())

    assert {key: found for key, found in modules.items() if len(found) > 1} == {}


def public_classes(code: str) -> set[str]:
    return set(re.findall(r"^class ([^_\W]\w*)", code, re.MULTILINE)) - FRAMEWORK


def test_the_guide_and_docstrings_name_classes_that_exist() -> None:
    guide = set(re.findall(CLASS, (ROOT / "CONTRIBUTING.md").read_text()))
    raised = {
        name
        for code in SOURCES
        for sentence in re.findall(r"Raises (`[^.]*)\.", code)
        for name in re.findall(CLASS, sentence)
    }

    assert sorted((guide | raised) - known_classes()) == []


def known_classes() -> set[str]:
    """Return the classes and aliases of the code and the tests, and what they import."""
    known = {*dir(builtins), *dir(asyncio)}
    for code in SOURCES:
        known.update(*re.findall(DEFINED, code, re.MULTILINE))
        for names in re.findall(IMPORTED, code, re.MULTILINE):
            known.update(re.findall(r"(\w+)(?: as \w+)?", names))
    return known
