"""The files that an answer has read with tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from apps.conversations.outcome.read_files import MOST, files_read


def state(*exchanges: tuple[str, object, str]) -> Mapping[str, Any]:
    """Return the state of an answer that called these tools with these arguments, and their
    results."""
    history: list[dict[str, Any]] = []
    for number, (name, arguments, text) in enumerate(exchanges):
        id = f"call-{number}"
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        call = {"id": id, "type": "function", "function": {"name": name, "arguments": written}}
        history.append({"role": "assistant", "content": "", "tool_calls": [call]})
        history.append({"role": "tool", "content": text, "tool_call_id": id})
    return {"tool_execution_history": history}


def test_each_file_is_named_once_in_the_order_of_the_calls():
    plan = "files/user-1/conversations/x/plan%20b.pdf"

    assert files_read(
        state(
            ("internal_file_read_lines", {"path": "notes/todo.md"}, "1: Go."),
            ("file_content_extraction_tool", {"file_url": plan}, "Page 1"),
            ("rag_tool", {"request": "When?", "file_urls": [plan, "a/b.docx"]}, "At noon."),
            ("internal_attachments_get_content", {"attachment_url": "files/user-1/c.png"}, "Here."),
            ("internal_file_search", {"path": "notes/", "pattern": "x"}, "todo.md: x"),
        )
    ) == ["todo.md", "plan b.pdf", "b.docx", "c.png"]


def test_what_failed_or_makes_no_sense_is_left_out():
    assert (
        files_read(
            state(
                (
                    "internal_file_read_lines",
                    {"path": "gone.md"},
                    "Error: This file does not exist.",
                ),
                ("internal_file_read_lines", {"path": 3}, "1: Go."),
                ("internal_file_read_lines", ["a.md"], "1: Go."),
                ("internal_file_read_lines", "{", "1: Go."),
                ("internal_file_write", {"path": "new.md"}, "Written."),
                ("look_up", {"path": "a.md"}, "Found."),
            )
        )
        == []
    )
    assert files_read({}) == []


def test_no_more_are_named_than_people_read():
    calls = [("internal_file_read_lines", {"path": f"{n}.md"}, "1") for n in range(MOST + 5)]

    assert len(files_read(state(*calls))) == MOST
