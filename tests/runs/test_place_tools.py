from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from apps.agent.tools import Toolbox
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.validation.validation import read_manifest
from apps.runs.capabilities import narrow
from tests.contract import proves
from tests.fakes import tool
from tests.runs.prompts import MANIFEST

MANY = read_manifest(
    {
        **MANIFEST,
        "tool_sets": [
            {"type": "rest-api", "name": "orders", "tools": []},
            {"type": "rest-api", "name": "weather", "tools": []},
        ],
    }
)


def box() -> Toolbox:
    places = {"list": 0, "pay": 0, "get_weather": 1, "get_wind": 1, "read_skill": None}
    return Toolbox(
        {
            name: replace(
                tool(name, lambda arguments: ""),
                toolset="" if place is None else f"tool_sets[{place}]",
            )
            for name, place in places.items()
        }
    )


@proves("T-21")
@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (None, {"list", "pay", "get_weather", "get_wind", "read_skill"}),
        ((), {"read_skill"}),
        (("orders",), {"list", "pay", "read_skill"}),
        (("orders", "get_wind", "unknown"), {"list", "pay", "get_wind", "read_skill"}),
    ],
)
def test_t_21_a_place_leaves_the_tools_that_it_names(names: Any, listed: set[str]):
    tools = box()

    narrow(tools, ChatPlace("x", "X", "", names), MANY)

    assert set(tools.listed) == listed
    # Hooks can still call the others, the model cannot.
    assert set(tools.hidden) == set(box().listed) - listed


@pytest.mark.parametrize(
    ("named", "others", "is_listed"),
    [
        ("orders_a.b", (), True),
        ("orders_a_b", (), True),
        ("orders_a_b", ("orders_a_b",), False),
    ],
)
def test_a_place_finds_a_tool_whose_name_got_a_hash(named, others, is_listed):
    hashed, toolset = "orders_a_b_0123abcd", "tool_sets[0]"
    made = {name: tool(name, lambda arguments: "") for name in (hashed, *others)}
    tools = Toolbox({name: replace(one, toolset=toolset) for name, one in made.items()})
    tools.listed[hashed] = replace(tools.listed[hashed], full_name="orders_a.b")

    narrow(tools, ChatPlace("x", "X", "", (named,)), MANY)

    assert set(tools.listed) == {*others, *((hashed,) if is_listed else ())}
