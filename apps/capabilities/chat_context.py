"""Defines the conversation data that a run on the chat page can use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from apps.agent.context.summaries import Summaries

if TYPE_CHECKING:  # Some programs use capabilities without Django's models.
    from apps.schedules.user_schedules import UserSchedules


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A search result: an earlier conversation of the caller.

    `address` is the path of the conversation's page, and `excerpt` a part of a matching message.
    """

    title: str
    address: str
    updated_at: datetime
    excerpt: str


SearchConversations = Callable[[str, int], Awaitable[Sequence[FoundConversation]]]
"""A function that searches the caller's earlier conversations with the application, best results
first.

Its arguments are the words to search and the maximum number of results.
"""


@dataclass(frozen=True, slots=True)
class ChatContext:
    """The conversation, user and folder data that a run can use. It is empty for runs without a
    stored conversation.
    """

    search_conversations: SearchConversations | None = None
    """Searches the caller's earlier conversations. None for callers without an account."""
    schedules: UserSchedules | None = None
    """The caller's schedules, or None if the run cannot schedule anything."""
    summaries: Summaries | None = None
    """The summaries of the conversation, or None if none are stored."""
    correction: float = 1.0
    """Token estimates for the conversation are multiplied by this factor."""
    effort: str = ""
    """The reasoning effort that the user chose. It is ignored if the deployment does not support
    it.
    """
    own_instructions: Callable[[], Awaitable[str]] | None = None
    """Reads the user's custom instructions. None if there are none."""
    folder_instructions: str = ""
    """The user's instructions for the conversations in the folder."""


NO_CHAT = ChatContext()
