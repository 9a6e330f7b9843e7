"""The configured capabilities, and what those of one run share."""

from pathlib import Path

import pytest
from django.conf import settings

from apps import capabilities as package
from apps.capabilities.preparation import capabilities
from apps.capabilities.registry import Key, SharedFindings
from apps.manifest.toolsets.kinds import KINDS

REFERENCES = {"internal", "predefined"}
"""Kinds that no capability serves: each of their tools is a separate part."""

COUNT = Key[int]("count")
NAMES = Key[list[str]]("names")


async def test_a_value_is_made_or_asked_for_once():
    known = SharedFindings()
    answers = iter((1, 2))

    async def ask() -> int:
        return next(answers)

    known.get_or_make(NAMES, list).append("a")

    assert known.get_or_make(NAMES, list) == known[NAMES] == ["a"]
    assert [await known.get_or_ask(COUNT, ask) for _ in range(2)] == [1, 1]


def test_what_nobody_found_out_is_not_known():
    known = SharedFindings()

    with pytest.raises(KeyError):
        known[COUNT]

    assert COUNT not in known


def test_two_keys_of_one_name_are_two_values():
    known, other = SharedFindings(), Key[int]("count")
    known[COUNT] = 1
    known[other] = 2

    assert (known[COUNT], known[other]) == (1, 2)


def test_every_kind_of_toolset_is_served():
    served = {name for capability in capabilities() for name in capability.serves}
    unserved = {name for name in KINDS.keys() - REFERENCES if f"tool_sets.{name}" not in served}

    assert unserved == set(), "add their capabilities to CAPABILITIES in quickapps_site/settings.py"


def test_every_capability_is_listed():
    folders = {path.parent.name for path in Path(package.__path__[0]).glob("*/capability.py")}
    listed = {path.split(".")[2] for path in settings.CAPABILITIES}

    assert folders - listed == set(), "add them to CAPABILITIES in quickapps_site/settings.py"
