"""Which test proves which behaviour, section by section.

To find the test for a rule, open the module of its chapter beside this one. Whoever renames or
removes a test hears it here, and whoever adds a behaviour adds a row.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.contract import (
    access,
    agent_memory,
    agent_notes,
    agent_sources,
    agents,
    attachments,
    budgets,
    content,
    context_window,
    conversations,
    delivery,
    deployments,
    durable,
    engine,
    failures,
    fallbacks,
    file_tools,
    helpers,
    injection,
    internal_tools,
    loop,
    manifest_tools,
    mcp,
    model_capabilities,
    operators,
    page_tools,
    personal_keys,
    prompts,
    providers,
    rest,
    schedules,
    skills,
    stages,
    teams,
    tools,
    transfer,
    triggers,
    usage,
)
from tests.contract.rules import Rule, Table

TESTS = Path(__file__).parent.parent
NAME_OF_SCRIPT_TEST = re.compile(r'^test\("([^"]+)"', re.MULTILINE)
CHAPTERS = (
    *(delivery, loop, tools, deployments, rest, mcp, stages, attachments, failures),
    *(internal_tools, file_tools, skills, injection, transfer, manifest_tools, content),
    *(
        agents,
        agent_memory,
        agent_notes,
        agent_sources,
        engine,
        page_tools,
        durable,
        providers,
        usage,
    ),
    *(fallbacks, model_capabilities, context_window, budgets, prompts, personal_keys),
    *(conversations, teams, operators, access, helpers, triggers, schedules),
)
TABLE: Table = {}
for chapter in CHAPTERS:
    for section, rules in chapter.TABLE.items():
        TABLE[section] = (*TABLE.get(section, ()), *rules)
SECTIONS = (
    *("2.5", "2.6", "4", "5", "6.1", "6.2", "6.3", "7", "7.1", "7.2", "7.3", "7.4", "7.5", "8"),
    *("9.1", "9.2", "9.3", "9.4", "9.5", "9.6", "9.7", "10.1", "10.2", "10.3", "10.4"),
    *("11", "11.1", "12", "13.1", "13.2", "13.3"),
    *("14.1", "14.9", "14.5", "14.6", "14.7", "14.8", "15", "m1.14", "16.1", "16.2", "17"),
    *("m1.8", "m1.9", "m1.10", "m1.11", "m1.12"),
    *("m4.1", "m4.2", "m4.3", "m4.4", "m4.5", "m5"),
    *(f"G-{number:02}" for number in (*range(1, 19), *range(20, 35), *range(40, 47))),
    *(f"G-{number}" for number in (*range(50, 56), *range(60, 63))),
    *(f"T-{number:02}" for number in (*range(1, 15), *range(30, 38))),
    *("D-05", "D-07", "D-09", "D-11", "D-12", "D-20", "D-21", "D-22", "D-23", "D-43"),
    *("D-45", "D-46", "D-47", "D-48"),
    *("R-01", "R-02", "R-03", "R-11", "R-13"),
    *("T-50", "T-52", "T-53", "T-54", "T-57"),
    *("T-60", "T-61", "T-62", "R-28"),
    *("D-06", "D-10", "D-30", "D-31", "D-32", "D-33", "T-51", "R-04", "R-12", "R-22"),
    "access",
    *("D-01", "D-02", "D-03", "D-04", "D-24", "D-25", "D-40", "D-49", "D-50", "R-19", "R-23"),
    *("budgets", "T-55", "T-56", "R-14", "R-15", "R-26"),
    "operators",
    *("T-20", "T-21", "T-22", "T-23", "T-24", "T-63", "D-08"),
    *("T-40", "T-41", "T-42", "T-43"),
    *("webhooks", "subscriptions", "notices"),
    *("D-41", "D-42", "R-20"),
)


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests of a file, read and not run; none where there is no such file."""
    file = TESTS / path
    if not file.is_file():
        return frozenset()
    if file.suffix == ".js":
        return frozenset(NAME_OF_SCRIPT_TEST.findall(file.read_text(encoding="utf-8")))
    return frozenset(
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def missing(rule: Rule) -> list[str]:
    return [name for name in rule.tests if name.partition("::")[2] not in names_in(path_of(name))]


def path_of(name: str) -> str:
    return name.partition("::")[0]


def test_every_section_has_its_rows():
    assert sorted(TABLE) == sorted(SECTIONS)
    assert [section for section, rules in TABLE.items() if not rules] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_every_behaviour_is_proved_by_tests_that_exist(section: str):
    rules = TABLE[section]

    assert [rule.says for rule in rules if not rule.tests] == []
    assert [name for rule in rules for name in missing(rule)] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_every_behaviour_is_told_once_and_shortly(section: str):
    said = [rule.says for rule in TABLE[section]]

    assert sorted(set(said)) == sorted(said)
    assert [says for says in said if len(says) > 100] == []


def test_a_test_that_is_gone_is_missed():
    assert missing(Rule("x", ("contract/rules.py::test_nothing", "nowhere.py::test_it"))) == [
        "contract/rules.py::test_nothing",
        "nowhere.py::test_it",
    ]
