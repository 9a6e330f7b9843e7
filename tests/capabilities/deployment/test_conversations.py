"""A tool that goes on with an earlier conversation."""

import asyncio
from typing import Any

import pytest

from apps.agent.messages import Attachment, Message, ToolCall, to_dicts
from tests.capabilities.deployment.scripts import echo, one_tool, simple, use, written
from tests.contract import proves
from tests.fakes import encoded, saying

RESUMABLE: dict[str, Any] = {"conversation_mode": {"resumable": True}}
NOTE = Attachment("text/plain", "Note", data="n")


def called(call_id: str, arguments: object, answer: str, tool: str = "repeat", **brought: Any):
    """A call of the tool and its result."""
    text = arguments if isinstance(arguments, str) else encoded(arguments)
    return (
        Message("assistant", tool_calls=(ToolCall(call_id, tool, text),)),
        Message("tool", answer, tool_call_id=call_id, **brought),
    )


BEGUN = called(
    "a", {"query": "One"}, "1\n\n[session_id: a]", attachments=(NOTE,), state={"count": 1}
)
CONTINUED = called("b", {"query": "Two", "session_id": "a"}, "2")
OTHER = called("c", {"query": "Three"}, "3\n\n[session_id: c]")
BEGUN_AS_ASKED = [
    {"role": "user", "content": "One"},
    {
        "role": "assistant",
        "content": "1",
        "custom_content": {
            "attachments": [{"type": "text/plain", "title": "Note", "data": "n"}],
            "state": {"count": 1},
        },
    },
]
CONTINUED_AS_ASKED = [{"role": "user", "content": "Two"}, {"role": "assistant", "content": "2"}]


async def asked(tool: dict[str, Any], *messages: Message, **arguments: Any) -> tuple[Any, str]:
    """What the deployment is asked with, and what the tool answers."""
    workspace, model = echo()
    async with one_tool(workspace, tool) as item:
        result = await use(item, messages=messages, call_id="new", **arguments)
    return to_dicts(model.asked[0].messages), result.content


@proves("7.1")
@pytest.mark.parametrize("tool", [written(**RESUMABLE), simple(**RESUMABLE)])
async def test_a_new_conversation_is_named_after_its_first_call(tool):
    messages, answer = await asked(tool, *BEGUN, query="Hi", session_id=" ")

    assert messages == [{"role": "user", "content": "Hi"}]
    assert answer == "Well.\n\n[session_id: new]"


@proves("7.1")
async def test_a_conversation_goes_on_with_everything_that_was_said_in_it():
    current = Message(
        "assistant",
        tool_calls=(ToolCall("new", "repeat", encoded({"query": "Go on", "session_id": "a"})),),
    )

    messages, answer = await asked(
        written(**RESUMABLE),
        Message("user", "Count"),
        *BEGUN,
        *OTHER,
        *CONTINUED,
        *called("d", {"query": "Else", "session_id": "a"}, "4", tool="another"),
        current,
        query="Go on",
        session_id="a",
    )

    assert messages == [*BEGUN_AS_ASKED, *CONTINUED_AS_ASKED, {"role": "user", "content": "Go on"}]
    assert answer == "Well."


@proves("7.1")
async def test_an_answer_that_is_cut_still_names_its_conversation():
    workspace, _ = echo(saying("x" * 400_001))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        result = await use(item, call_id="new", query="Hi")

    assert result.content.endswith("more characters)\n\n[session_id: new]")
    assert len(result.content) <= 400_000


@proves("7.1")
async def test_calls_at_the_same_time_go_on_from_what_was_answered_before_them():
    both = Message(
        "assistant",
        tool_calls=(
            ToolCall("new", "repeat", encoded({"query": "Left", "session_id": "a"})),
            ToolCall("other", "repeat", encoded({"query": "Right", "session_id": "a"})),
        ),
    )
    workspace, model = echo(saying("L"), saying("R"))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        left, right = await asyncio.gather(
            *(
                use(item, messages=(*BEGUN, both), call_id=id, query=query, session_id="a")
                for id, query in (("new", "Left"), ("other", "Right"))
            )
        )

    assert [to_dicts(request.messages) for request in model.asked] == [
        [*BEGUN_AS_ASKED, {"role": "user", "content": query}] for query in ("Left", "Right")
    ]
    assert (left.content, right.content) == ("L", "R")


@proves("7.1")
async def test_new_conversations_at_the_same_time_have_names_of_their_own():
    workspace, _ = echo(saying("L"), saying("R"))

    async with one_tool(workspace, written(**RESUMABLE)) as item:
        left, right = await asyncio.gather(
            *(use(item, call_id=id, query="Hi") for id in ("one", "two"))
        )

    assert (left.content, right.content) == ("L\n\n[session_id: one]", "R\n\n[session_id: two]")


@proves("7.1")
async def test_the_name_of_the_conversation_is_not_sent():
    workspace, model = echo()

    async with one_tool(workspace, written(**RESUMABLE)) as tool:
        await use(tool, query="Hi", session_id="a")

    assert model.asked[0].parameters == {}


@proves("7.1")
@pytest.mark.parametrize("arguments", ["{not json", "[]", "{}"])
async def test_a_first_call_that_cannot_be_read_counts_without_its_question(arguments):
    messages, _ = await asked(
        written(**RESUMABLE), *called("a", arguments, "1"), query="Hi", session_id="a"
    )

    assert messages == [{"role": "assistant", "content": "1"}, {"role": "user", "content": "Hi"}]


async def test_a_conversation_that_nobody_began_begins_under_that_name():
    messages, _ = await asked(written(**RESUMABLE), *OTHER, query="Hi", session_id="invented")

    assert messages == [{"role": "user", "content": "Hi"}]


@proves("7.1")
async def test_without_the_mode_every_call_stands_alone():
    messages, answer = await asked(written(), *BEGUN, *CONTINUED, query="Hi", session_id="a")

    assert messages == [{"role": "user", "content": "Hi"}]
    assert answer == "Well."


@proves("7.1")
@pytest.mark.parametrize("mode", [{}, RESUMABLE])
async def test_the_older_mode_makes_one_conversation_of_all_calls(mode):
    tool = written(content_propagation={"propagate_history": True}, **mode)

    messages, _ = await asked(tool, *called("a", {"query": "One"}, "1"), *CONTINUED, query="Hi")

    assert messages == [
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "1"},
        *CONTINUED_AS_ASKED,
        {"role": "user", "content": "Hi"},
    ]


@proves("7.1")
@pytest.mark.django_db
async def test_a_file_that_is_gone_does_not_end_the_conversation(caplog):
    first = called("a", {"query": "Read", "attachment_urls": ["files/user-7/gone.txt"]}, "1")

    messages, _ = await asked(written(**RESUMABLE), *first, query="Hi", session_id="a")

    assert messages == [
        {"role": "user", "content": "Read"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Hi"},
    ]
    assert "An earlier call is repeated without its files" in caplog.text
