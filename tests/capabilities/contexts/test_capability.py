"""§11.1: the model is informed of the operator's files as they are added, changed and removed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from apps.accounts.caller import Caller
from apps.agent.events import Event
from apps.agent.messages import ModelMessage, ToolCall, to_dicts
from apps.agent.stages import silent
from apps.agent.tools import Invocation
from apps.capabilities.contexts.capability import DISCLAIMER, TOOL_NAME, contexts
from apps.capabilities.contexts.entries import MOST_ENTRIES
from apps.capabilities.registry import ContinuedConversation, Contribution, Opening
from apps.workspace.local.workspace import LocalWorkspace
from tests.capabilities.manifests import manifest, stage_text
from tests.contract import proves

pytestmark = pytest.mark.django_db

CALLER = Caller("user-7", "user", user_id=7)
QUESTION = ModelMessage("user", "What is the rule?")
RULES = {"type": "file", "url": "files/user-7/house%20rules.pdf", "description": "What holds here"}
PLAN = {"type": "file", "url": "files/user-7/plan.png"}
FOLDER = {"type": "folder", "url": "files/user-7/docs/", "description": "Papers"}


async def opened(
    *given: dict[str, Any], messages: Sequence[ModelMessage] = (QUESTION,)
) -> Contribution:
    opening = Opening(LocalWorkspace(CALLER), CALLER, silent, ContinuedConversation(messages))
    opener = contexts.prepare(manifest(contexts=list(given)))
    assert opener is not None
    async with opener(opening) as contribution:
        return contribution


async def told(
    *given: dict[str, Any], messages: Sequence[ModelMessage] = (QUESTION,)
) -> Sequence[ModelMessage]:
    """Return the conversation with the messages about these contexts."""
    contribution = await opened(*given, messages=messages)
    for step in contribution.history:
        messages = await step(messages)
    return messages


def entries(message: ModelMessage) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = json.loads(message.text)["entries"]
    return listed


def statuses(message: ModelMessage) -> dict[str, str | None]:
    return {entry["title"]: entry.get("status") for entry in entries(message)}


@proves("11.1")
async def test_the_first_question_is_followed_by_all_files():
    asked, result = (await told(RULES, PLAN, RULES))[1:]

    (call,) = asked.tool_calls
    assert asked == ModelMessage("assistant", tool_calls=(ToolCall(call.id, TOOL_NAME, "{}"),))
    prefix, _, digits = call.id.partition("_")
    assert (prefix, len(digits), int(digits, 16) >= 0) == ("synthetic", 12, True)
    assert result.tool_call_id == call.id
    assert json.loads(result.text) == {
        "entries": [
            {
                "title": "house rules.pdf",
                "url": "files/user-7/house%20rules.pdf",
                "type": "application/pdf",
                "description": "What holds here",
                "status": "new",
            },
            {
                "title": "plan.png",
                "url": "files/user-7/plan.png",
                "type": "image/png",
                "status": "new",
            },
        ],
        "disclaimer": DISCLAIMER,
    }


@proves("11.1")
async def test_what_has_not_changed_is_not_said_again():
    messages = await told(RULES, PLAN)

    assert await told(RULES, PLAN, messages=messages) is messages
    assert await told(PLAN, RULES, messages=messages) is messages


@proves("11.1")
async def test_what_changes_is_told_once():
    first = await told(RULES, PLAN)
    changed = {**RULES, "description": "What holds now"}
    notes = {"type": "file", "url": "files/user-7/notes"}

    second = await told(changed, notes, messages=first)
    third = await told(changed, notes, messages=second)

    assert entries(second[-1]) == [
        {
            "title": "house rules.pdf",
            "url": "files/user-7/house%20rules.pdf",
            "type": "application/pdf",
            "description": "What holds now",
            "status": "updated",
        },
        {
            "title": "notes",
            "url": "files/user-7/notes",
            "type": "application/octet-stream",
            "status": "new",
        },
        {
            "title": "plan.png",
            "url": "files/user-7/plan.png",
            "type": "image/png",
            "status": "removed",
        },
    ]
    assert len(second) == len(first) + 2
    assert third is second


@proves("11.1")
async def test_that_everything_is_gone_is_told_once_and_the_tool_stays():
    first = await told(RULES)
    second = await told(messages=first)

    assert statuses(second[-1]) == {"house rules.pdf": "removed"}
    assert await told(messages=second) is second
    assert (await opened(messages=second)).tools


@proves("11.1")
async def test_what_comes_back_is_new_again_under_another_id():
    first = await told(RULES)
    second = await told(RULES, messages=await told(messages=first))

    assert statuses(second[-1]) == {"house rules.pdf": "new"}
    ids = [call.id for message in second for call in message.tool_calls]
    assert len(set(ids)) == len(ids) == 3


@proves("11.1")
async def test_an_application_without_files_brings_nothing():
    text = {"type": "user-defined", "content": "Be kind."}

    assert await opened(text) == Contribution()
    assert await opened() == Contribution()


@proves("11.1")
@pytest.mark.parametrize("text", ["", "[]", "Not JSON", '{"entries": [{"url": 5}]}', "\ud800"])
async def test_a_listing_that_cannot_be_read_counts_as_none(text):
    first = await told(RULES)
    broken = [
        *first,
        ModelMessage("assistant", tool_calls=(ToolCall("1", TOOL_NAME, "{}"),)),
        ModelMessage("tool", text, tool_call_id="1"),
    ]

    assert await told(RULES, messages=broken) is broken
    only_broken = [QUESTION, *broken[3:]]
    assert statuses((await told(RULES, messages=only_broken))[-1]) == {"house rules.pdf": "new"}


@proves("11.1")
async def test_the_model_may_ask_for_the_list():
    contribution = await opened(RULES)
    (tool,) = contribution.tools
    events: list[Event] = []

    result = await tool.call(Invocation("1", {}, await told(RULES), events.append))

    assert (tool.spec.name, result.content_type) == (TOOL_NAME, "application/json")
    assert [entry.get("status") for entry in json.loads(result.content)["entries"]] == [None]
    assert stage_text(events) == ""  # such calls are shown only at the level `debug`


@proves("11.1")
async def test_a_folder_is_listed_anew_for_each_request():
    files = LocalWorkspace(CALLER).files
    await files.keep("docs/a.txt", b"a", "text/plain")
    await files.keep("docs/deep down/b", b"b", "text/csv")
    first = await told(FOLDER)
    await files.delete("files/user-7/docs/a.txt")
    await files.keep("docs/c.md", b"c", "text/markdown")

    second = await told(FOLDER, messages=first)

    folder = "application/vnd.dial.metadata+json"
    assert [
        (e["title"], e["url"], e["type"], e.get("description")) for e in entries(first[-1])
    ] == [
        ("docs", "files/user-7/docs/", folder, "Papers"),
        ("a.txt", "files/user-7/docs/a.txt", "text/plain", None),
        ("deep down", "files/user-7/docs/deep%20down/", folder, None),
        ("b", "files/user-7/docs/deep%20down/b", "text/csv", None),
    ]
    assert statuses(second[-1]) == {
        "docs": None,
        "c.md": "new",
        "deep down": None,
        "b": None,
        "a.txt": "removed",
    }


@proves("11.1")
@pytest.mark.parametrize(
    ("depth", "titles"),
    [
        (1, ["docs", "a", "top.txt"]),
        (2, ["docs", "a", "b", "one.txt", "top.txt"]),
        (3, ["docs", "a", "b", "two.txt", "one.txt", "top.txt"]),
    ],
)
async def test_folders_below_the_depth_are_named_and_not_opened(depth, titles):
    files = LocalWorkspace(CALLER).files
    for name in ("top.txt", "a/one.txt", "a/b/two.txt"):
        await files.keep(f"docs/{name}", b"x", "text/plain")

    (_, _, result) = await told({**FOLDER, "max_depth": depth})

    assert [entry["title"] for entry in entries(result)] == titles


@proves("11.1")
async def test_of_a_file_that_is_named_twice_the_one_with_a_description_counts():
    await LocalWorkspace(CALLER).files.keep("docs/a.txt", b"a", "text/plain")
    named = {"type": "file", "url": "/files/user-7/docs/a.txt", "description": "The first"}

    (_, _, result) = await told(FOLDER, named)

    assert [(entry["url"], entry.get("description")) for entry in entries(result)] == [
        ("files/user-7/docs/", "Papers"),
        ("files/user-7/docs/a.txt", "The first"),
    ]


@proves("11.1")
async def test_a_folder_that_cannot_be_listed_is_told_and_nothing_of_it_is_gone():
    strange = {"type": "folder", "url": "files/somebody-else/docs/"}
    before = json.dumps(
        {
            "entries": [
                {"title": "a", "url": "files/somebody-else/docs/a", "type": "text/plain"},
                {"title": "b", "url": "files/user-7/b", "type": "text/plain"},
            ]
        }
    )
    messages = [
        QUESTION,
        ModelMessage("assistant", tool_calls=(ToolCall("1", TOOL_NAME, "{}"),)),
        ModelMessage("tool", before, tool_call_id="1"),
    ]

    contribution = await opened(strange, messages=messages)
    result = (await told(strange, messages=messages))[-1]

    (issue,) = contribution.issues
    assert issue.message.startswith("contexts[0]: the folder cannot be listed: ")
    assert (issue.section, issue.is_hard) == ("Contexts", False)
    assert statuses(result) == {"a": None, "b": "removed"}


@proves("11.1")
async def test_of_too_many_files_the_rest_is_counted():
    many = [{"type": "file", "url": f"files/user-7/{n}.txt"} for n in range(MOST_ENTRIES + 2)]

    result = (await told(*many))[-1]

    assert len(entries(result)) == MOST_ENTRIES
    assert json.loads(result.text)["disclaimer"] == (
        f"{DISCLAIMER} There are 2 more entries, which are not listed."
    )


async def test_what_is_told_comes_back_with_the_history():
    messages = await told(RULES)
    written = to_dicts(messages[1:])

    assert [message["role"] for message in written] == ["assistant", "tool"]
    assert "custom_content" not in written[1]
