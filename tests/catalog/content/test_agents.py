"""Predefined agents: defined, overridden, checked, and offered to applications."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apps.catalog.content.agents import agent_problems, installed_agents
from apps.catalog.content.layers import read_layers
from apps.catalog.content.previews import preview
from apps.catalog.content.references import resolve_references
from apps.manifest.markdown.agent_definition import AgentDefinition, AgentInvalid, read_agent
from apps.manifest.validation.validation import read_manifest
from tests.contract import proves
from tests.manifest.documents import manifest

TEXT = """\
---
title: Scout
description: Looks ahead.
---
You scout. Today is {today}.
"""


def write(folder: Path, name: str, text: str, kind: str = "agent", ending: str = "md") -> Path:
    (folder / kind).mkdir(parents=True, exist_ok=True)
    (folder / kind / f"{name}.{ending}").write_text(text)
    return folder


def test_all_keys_of_an_agent_are_read():
    text = """\
---
title: Scout
description: Looks ahead.
model: small
toolsets: [library, shop]
brings: weather
max-iterations: 8
timeout-seconds: 90
may-spawn: true
---
You scout.
"""
    assert read_agent("scout", text) == AgentDefinition(
        name="scout",
        title="Scout",
        description="Looks ahead.",
        prompt="You scout.",
        deployment_id="small",
        toolsets=("library", "shop"),
        brings=("weather",),
        max_iterations=8,
        timeout_seconds=90,
        may_spawn=True,
    )


def test_what_is_left_out_is_as_the_application_has_it():
    plain = read_agent("scout", TEXT)
    without = read_agent("scout", TEXT.replace("---\nYou", "toolsets: []\n---\nYou"))

    assert (plain.toolsets, plain.deployment_id, plain.max_iterations) == (None, None, None)
    assert (plain.brings, plain.may_spawn) == ((), False)
    assert without.toolsets == ()


def test_all_mistakes_of_an_agent_are_told_at_their_keys():
    text = """\
---
title: Scout
tools: [shop]
max-iterations: 0
timeout-seconds: soon
may-spawn: perhaps
---
"""
    with pytest.raises(AgentInvalid) as refused:
        read_agent("scout", text)

    assert [problem.path for problem in refused.value.problems] == [
        *("description", "max-iterations", "timeout-seconds", "may-spawn"),
        *("the text", "tools"),
    ]


@proves("D-25")
def test_an_agent_of_a_later_layer_replaces_the_one_below(tmp_path: Path):
    below = write(tmp_path / "a", "scout", TEXT)
    above = write(tmp_path / "b", "scout", TEXT.replace("Looks ahead", "Looks back"))
    write(above, "judge", TEXT.replace("Scout", "Judge"))

    found = installed_agents(read_layers([below, above]))

    assert {name: agent.description for name, agent in found.items()} == {
        "judge": "Looks ahead.",
        "scout": "Looks back.",
    }


@proves("D-25")
def test_an_agent_brings_predefined_toolsets_and_one_that_there_is_not_is_told(tmp_path: Path):
    toolset = {"type": "rest-api", "name": "Shop", "tools": []}
    folder = write(tmp_path, "shop", json.dumps(toolset), "toolset", "json")
    write(folder, "scout", TEXT.replace("---\nYou", "brings: [shop]\n---\nYou"))
    write(folder, "judge", TEXT.replace("---\nYou", "brings: [shopp]\n---\nYou"))

    content = read_layers([folder])
    found = installed_agents(content)

    assert [one.label for one in found["scout"].brought] == ["Shop"]
    assert "judge" not in found
    assert list(agent_problems(content, content.items["agent"]["judge"])) == [
        "brings: There is no predefined toolset 'shopp'; did you mean 'shop'?"
    ]


def test_an_editor_sees_what_it_is_told_and_has(tmp_path: Path):
    text = TEXT.replace("---\nYou", "toolsets: []\n---\nYou").replace("{today}", "Monday")
    content = read_layers([write(tmp_path, "scout", text)])

    blocks = preview(content, content.items["agent"]["scout"])

    assert [(block.title, block.text) for block in blocks] == [
        ("Description for models", "scout: Looks ahead."),
        ("Instructions", "You scout. Today is Monday."),
        ("Toolsets of the application", "None."),
    ]


@proves("D-01")
def test_an_application_that_offers_an_agent_that_there_is_not_is_told(tmp_path: Path):
    content = read_layers([write(tmp_path, "scout", TEXT)])
    wanted = {"spawn_agent": {"enabled": True, "agents": ["scout", "scot"]}}
    document = read_manifest(manifest(features=wanted))

    problems = resolve_references(document, content).problems

    assert [(one.path, one.message) for one in problems] == [
        (
            "features.spawn_agent.agents[1]",
            "There is no predefined agent 'scot'; did you mean 'scout'?",
        )
    ]
