"""A client of each door uses everything that one application has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.contract import proves_feature
from tests.judges.ag_ui.test_client import pytestmark as ag_ui_client
from tests.peers.one_application.openai_clients import (
    converse_with_completions,
    converse_with_responses,
)
from tests.peers.one_application.other_clients import (
    converse_with_ag_ui,
    converse_with_mcp,
    converse_with_messages,
)
from tests.peers.one_application.own_clients import (
    converse_with_a2a,
    converse_with_page,
    converse_with_tasks,
)
from tests.peers.one_application.shop import ANSWER, PICTURE, Conversation, Shop

CLIENTS: dict[str, Callable[[Shop], Conversation]] = {
    "completions": converse_with_completions,
    "responses": converse_with_responses,
    "messages": converse_with_messages,
    "mcp": converse_with_mcp,
    "a2a": converse_with_a2a,
    "ag-ui": converse_with_ag_ui,
    "conversations": converse_with_tasks,
    "page": converse_with_page,
}


WITHOUT_FILES = {"messages"}
"""Answers at these doors have no files."""


@proves_feature(
    "completions", "tools", "parallel tools", "files in", "questions", "approvals", "files out"
)
@proves_feature(
    "responses", "tools", "parallel tools", "files in", "questions", "approvals", "files out"
)
@proves_feature("messages", "tools", "parallel tools", "files in", "questions", "approvals")
@proves_feature("mcp", "tools", "parallel tools", "files in", "questions", "approvals", "files out")
@proves_feature("a2a", "tools", "parallel tools", "files in", "questions", "approvals", "files out")
@proves_feature(
    "ag-ui", "tools", "parallel tools", "files in", "questions", "approvals", "files out"
)
@proves_feature(
    "conversations", "tools", "parallel tools", "files in", "questions", "approvals", "files out"
)
@proves_feature(
    "page", "tools", "parallel tools", "files in", "questions", "approvals", "files out"
)
@pytest.mark.parametrize(
    "door",
    [pytest.param(door, marks=ag_ui_client if door == "ag-ui" else ()) for door in CLIENTS],
)
def test_a_client_of_this_door_uses_all_that_the_application_has(shop: Shop, door: str):
    seen = CLIENTS[door](shop)

    approval, question, answer = seen.texts
    assert "desk_show" in approval
    assert "Which colour?" in question
    assert answer == ANSWER
    assert (PICTURE in seen.files) is (door not in WITHOUT_FILES)
