from __future__ import annotations

import pytest

from apps.agent.messages import Message, ToolCall
from apps.capabilities.skills.collection import predefined
from apps.workspace.demo.arguments import Call
from apps.workspace.demo.results import READ_SKILL, render
from apps.workspace.demo.skills import reads
from tests.capabilities.skills.openings import installed
from tests.fakes import spec
from tests.workspace.demo.test_model import reply_to

READ = spec(READ_SKILL, "Reads a skill.", skill_name={"type": "string"})
LOOK = spec("file_read_lines", "Reads lines of a file.", path={"type": "string"})
PROMPT = Message("system", predefined((installed("tone"), installed("price-list"))).prompt)


def read(name: str, path: str = "") -> Call:
    return Call(READ_SKILL, {"skill_name": name, **({"file_path": path} if path else {})})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read the skill tone.", [read("tone")]),
        ("please use your Price-List skill", [read("price-list")]),
        ("Read the skills tone and price-list", [read("tone"), read("price-list")]),
        ("Read rates/2026.csv of the skill price-list.",
         [read("price-list"), read("price-list", "rates/2026.csv")]),
        ('Read the skill "unknown"', [read("unknown")]),
        ("Read tone", []),
        ("Which skills do you have?", []),
        ("The skill price-lists", []),
        ("Read logo.png of the skill tone", [read("tone")]),
        ("x" * 5_000 + " the skill tone", []),
    ],
)  # fmt: skip
def test_a_question_that_names_a_skill_reads_it(text: str, expected: list[Call]):
    assert list(reads(text, [READ, LOOK], [PROMPT, Message("user", text)])) == expected


def test_without_the_tool_nothing_is_read():
    assert reads("Read the skill tone", [LOOK], [PROMPT]) == ()


async def test_the_model_reads_the_skill_and_nothing_else():
    reply = await reply_to(PROMPT, Message("user", "Read the skill tone"), tools=(LOOK, READ))

    assert [(call.name, call.arguments) for call in reply.message.tool_calls] == [
        (READ_SKILL, '{"skill_name":"tone"}')
    ]


async def test_the_word_read_alone_means_no_skill():
    reply = await reply_to(PROMPT, Message("user", "Read this, please"), tools=(READ,))

    assert reply.message.tool_calls == ()


async def test_a_call_that_is_demanded_is_made():
    choice = {"type": "function", "function": {"name": READ_SKILL}}
    for wanted in (choice, "required"):
        reply = await reply_to(PROMPT, Message("user", "tone"), tools=(READ,), tool_choice=wanted)

        assert [call.arguments for call in reply.message.tool_calls] == ['{"skill_name":"tone"}']


def test_a_skill_is_shown_line_by_line():
    call = ToolCall("1", READ_SKILL, '{"skill_name":"tone"}')

    assert render(call, Message("tool", "---\nname: tone\n---\n\nBe kind.\n")) == (
        "**Read skill** (tone)\n\n    ---\n    name: tone\n    ---\n\n    Be kind."
    )
