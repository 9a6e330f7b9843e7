"""The name of a public class means one thing in a room."""

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORK = {"Command"}
"""What a framework looks for by its name in several modules."""


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
