"""Files of other programs are parsed, including hostile ones."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.chat.imports import files
from apps.chat.imports.exported_values import moment
from apps.chat.imports.files import conversations_in
from apps.chat.imports.tree import (
    BEGINNING,
    MessageTree,
    SourceConversation,
    SourceFile,
    SourceNode,
    UnreadableConversation,
    tree_of,
)
from tests.chat.imports.samples import (
    LIBRECHAT,
    OPEN_WEBUI,
    PNG,
    TRIP,
    chatgpt,
    chatgpt_node,
    file_of,
    zip_of,
)


def read(*documents: Any) -> SourceConversation:
    [found] = conversations_in(file_of(*documents))
    assert isinstance(found, SourceConversation)
    return found


def said(tree: MessageTree) -> list[tuple[int | None, str, str]]:
    return [(one.parent, one.role, one.text) for one in tree.messages]


def answer_to(*nodes: Any) -> str:
    """Return the text of the answer to a question."""
    found = read(chatgpt(chatgpt_node("q", None, "user", "Well?"), *nodes))
    return tree_of(found).messages[1].text


def test_chatgpt_keeps_branches_and_the_one_that_was_shown():
    found = read(TRIP)
    tree = tree_of(found)

    assert said(tree) == [
        (None, "user", "Where is Riga?"),
        (0, "assistant", "In Latvia."),
        (1, "user", "How far is it?"),
        (2, "assistant", "Far."),
        (2, "assistant", "Not far."),
    ]
    assert tree.leaf == 3
    assert tree.messages[1].model == "gpt-4o"
    assert tree.messages[0].at == datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    assert (found.id, found.title) == (TRIP["id"], "Trip to Riga")


def test_chatgpt_tools_pictures_and_files_are_told_in_words():
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1"}
    asked = {"content_type": "multimodal_text", "parts": [picture, "What is it?"]}
    file = {"name": "plan.pdf", "mime_type": "application/pdf"}
    found = read(
        chatgpt(
            chatgpt_node("q", None, "user", asked, metadata={"attachments": [file]}),
            chatgpt_node("t", "q", "assistant", {"content_type": "thoughts", "thoughts": []}),
            chatgpt_node("c", "t", "assistant", code, recipient="python"),
            chatgpt_node("o", "c", "tool", {"content_type": "execution_output", "text": "1"}),
            chatgpt_node("s", "o", "assistant", code, recipient="web.run"),
            chatgpt_node("w", "s", "tool", "The page says 2."),
            chatgpt_node("a", "w", "assistant", "One\ue200cite\ue202turn0search1\ue201."),
        )
    )

    assert said(tree_of(found)) == [
        (
            None,
            "user",
            "*Picture: not imported.*\n\nWhat is it?\n\n*File “plan.pdf”: not imported.*",
        ),
        (0, "assistant", "```python\nprint(1)\n```\n\n```\n1\n```\n\nOne."),
    ]


def test_files_of_chatgpt_are_named_as_the_zip_does():
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": address}
        for address in ("file-service://file-Ab1", "sediment://file_0f?shared=1", "sediment://odd")
    ]
    attachments = [
        {"id": "file-Ab1", "name": "cat.png", "mime_type": "image/png"},
        {"id": "file-Cd2", "name": "plan.pdf", "mime_type": "application/pdf"},
        {"name": "no id.pdf"},
    ]
    asked = {"content_type": "multimodal_text", "parts": [*parts, "What?"]}
    found = read(
        chatgpt(chatgpt_node("q", None, "user", asked, metadata={"attachments": attachments}))
    )

    assert tree_of(found).messages[0].files == [
        SourceFile("file-Ab1", "cat.png", "*Picture: not imported.*"),
        SourceFile("file_0f", "", "*Picture: not imported.*"),
        SourceFile("file-Cd2", "plan.pdf", "*File “plan.pdf”: not imported.*"),
    ]


def test_code_that_has_fences_stays_in_its_own():
    code = {"content_type": "code", "language": "unknown", "text": "```\n# no heading"}

    assert answer_to(chatgpt_node("a", "q", "assistant", code)) == ("````\n```\n# no heading\n````")


def test_open_webui_leaves_out_what_the_model_thought():
    found = read(OPEN_WEBUI)
    tree = tree_of(found)

    assert said(tree) == [
        (None, "user", "15 * 17?\n\n*File “sums.pdf”: not imported.*"),
        (0, "assistant", "255"),
        (0, "assistant", "It is 255."),
    ]
    assert (tree.leaf, found.is_archived, found.is_pinned) == (1, True, False)
    assert [one.model for one in tree.messages] == ["", "deepseek-r1", "llama3"]


def test_the_older_flat_list_of_open_webui_is_a_chain():
    messages = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi", "timestamp": 1_700_000_000_000},
    ]
    found = read({"id": "c", "chat": {"title": "Flat", "messages": messages}})

    assert said(tree_of(found)) == [(None, "user", "Hello"), (0, "assistant", "Hi")]
    assert found.title == "Flat"


def test_librechat_is_read_flat_and_as_a_tree():
    def nest(parent: str) -> list[dict[str, Any]]:
        found = [one for one in LIBRECHAT["messages"] if one["parentMessageId"] == parent]
        return [{**one, "children": nest(one["messageId"])} for one in found]

    nested = nest("00000000-0000-0000-0000-000000000000")
    flat, tree, old = (
        tree_of(read(one))
        for one in (
            LIBRECHAT,
            {**LIBRECHAT, "recursive": True, "messages": nested},
            {**LIBRECHAT, "messages": None, "messagesTree": nested},
        )
    )

    assert flat == tree == old
    assert said(flat) == [
        (None, "user", "Tell a story"),
        (0, "assistant", "Once."),
        (None, "user", "Tell a long story"),
        (2, "assistant", "Once upon a time."),
    ]
    assert flat.leaf == 3


def test_a_single_document_and_a_mixed_list_are_read():
    single = io.BytesIO(json.dumps(LIBRECHAT).encode("utf-16"))

    assert len(list(conversations_in(single))) == 1
    assert [
        one.source if isinstance(one, SourceConversation) else str(one)
        for one in conversations_in(file_of(TRIP, OPEN_WEBUI, 5, {"odd": 1}, {"mapping": 3}))
    ] == [
        "chatgpt",
        "open-webui",
        "it isn’t a JSON object",
        "unknown format",
        "its `mapping` isn’t an object",
    ]


def test_a_zip_is_read_with_all_its_files_of_conversations():
    content = json.dumps([TRIP]).encode()
    members = {
        "export/conversations-000.json": content,
        "export/conversations-001.json": content,
        "export/user.json": b"{}",
        "__MACOSX/conversations.json": b"\0",
        "export/chat.html": b"<p>",
    }

    assert len(list(conversations_in(zip_of(members)))) == 2


def node(key: str, parent: str | None, role: Any = None, text: str = "") -> SourceNode:
    return SourceNode(key, parent, role, text)


def tree(*nodes: SourceNode, leaf: str | None = None) -> MessageTree:
    return tree_of(SourceConversation("chatgpt", "1", "", nodes, leaf))


def test_neighbours_of_one_speaker_become_one_message_on_each_branch():
    made = tree(
        node("q", None, "user", "One"),
        node("r", "q", "user", "Two"),
        node("a", "r", "assistant", "A"),
        node("b", "a", "assistant", "B"),
        node("c", "a", "assistant", "C"),
        node("s", "b", "user", "Three"),
        leaf="b",
    )

    assert said(made) == [
        (None, "user", "One\n\nTwo"),
        (0, "assistant", "A\n\nB"),
        (1, "user", "Three"),
        (0, "assistant", "A\n\nC"),
        (2, "assistant", ""),
    ]
    assert (made.leaf, made.messages[4].is_missing) == (4, True)


def test_an_answer_at_the_beginning_gets_a_question():
    assert said(tree(node("a", None, "assistant", "Hello!"))) == [
        (None, "user", BEGINNING),
        (0, "assistant", "Hello!"),
    ]


def test_unknown_parents_begin_and_circles_are_left_out():
    made = tree(
        node("q", "gone", "user", "One"),
        node("x", "y", "user", "Round"),
        node("y", "x", "assistant", "Round"),
        node("self", "self", "user", "Me"),
    )

    assert said(made) == [(None, "user", "One"), (0, "assistant", "")]


def test_a_long_chain_is_read_without_recursion():
    nodes = [node("0", None, "user", "q")]
    nodes += [node(str(n), str(n - 1), "assistant", "a") for n in range(1, 20_000)]

    assert len(tree(*nodes).messages) == 2


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], "it has no readable messages"),
        ([node("x", "x", "user", "Round")], "it has no readable messages"),
        ([node(str(n), None) for n in range(20_001)], "it has more than 20,000 messages"),
        ([node("q", None, "user", "q" * 20_000_001)], "it has more than 20,000,000 characters"),
    ],
)
def test_what_is_empty_or_too_much_is_refused(nodes, reason):
    with pytest.raises(UnreadableConversation, match=reason):
        tree(*nodes)


REFUSED = {
    b"": "The file is empty.",
    PNG: f"This file has the type image/png, so it isn’t a conversation export. {files.EXPECTED}",
    b"%PDF-1.7\n": "This file has the type application/pdf, so it isn’t a conversation export. "
    f"{files.EXPECTED}",
    b'[{"mapping": {}}, {"map': "The JSON is incomplete. Download the file again.",
    b"[1, 2": "The JSON is incomplete. Download the file again.",
    b"[1 2]": "This isn’t valid JSON. The error is on line 1.",
    b"{}\n[]": "This isn’t valid JSON. The error is on line 1.",
    b"[" * 100_000: "The JSON is nested too deeply. Choose another file.",
    b"\xff{}": "The file isn’t encoded as UTF-8. Save it as UTF-8 and try again.",
    b"[" + b"9" * 5000 + b"]": "This isn’t valid JSON. The error is on line 1.",
    b"PK\x03\x04 and nothing": "The ZIP can’t be read because it is damaged or password-protected. Choose another file.",
    b"[]": files.NO_CONVERSATIONS,
    zip_of({"photo.png": b"x"}).read(): files.NO_CONVERSATIONS,
}


def test_files_that_are_none_are_refused_with_the_reason():
    assert {content: refusal(content) for content in REFUSED} == REFUSED


def refusal(content: bytes) -> str:
    with pytest.raises(UnreadableConversation) as refused:
        list(conversations_in(io.BytesIO(content)))
    return str(refused.value)


def test_a_zip_that_grows_is_read_no_further_than_the_limit(monkeypatch):
    monkeypatch.setattr(files, "LARGEST_FILE", 4 * 1024 * 1024)
    bomb = zip_of({"conversations.json": b"[" + b" " * 20_000_000 + b"]"})

    with pytest.raises(
        UnreadableConversation,
        match="The conversations in the file are too large; the limit is 4 MB",
    ):
        list(conversations_in(bomb))


def test_unlikely_times_are_none():
    unlikely = [True, float("nan"), float("inf"), 1e300, -5, 0, "yesterday", "9999-01-01", [], 1e12]

    read = [moment(written) for written in unlikely]

    assert read == [None] * 9 + [datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)]
