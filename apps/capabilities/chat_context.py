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
    """An earlier conversation of the caller that matches a search."""

    title: str
    address: str
    """The path of the conversation's page."""
    updated_at: datetime
    excerpt: str
    """Part of a matching message."""


SearchConversations = Callable[[str, int], Awaitable[Sequence[FoundConversation]]]
"""A function that searches the caller's earlier conversations, best results first.

The arguments are the search words and the maximum number of results.
"""


@dataclass(frozen=True, slots=True)
class ChatContext:
    """The conversation, user and folder data of a run. All fields are empty if there is no stored
    conversation.
    """

    search_conversations: SearchConversations | None = None
    """A function that searches the caller's earlier conversations, or None for callers without an
    account.
    """
    schedules: UserSchedules | None = None
    """The caller's schedules, or None if the run cannot schedule anything."""
    summaries: Summaries | None = None
    """The summaries of the conversation, or None if none are stored."""
    correction: float = 1.0
    """Token estimates for the conversation are multiplied by this factor."""
    effort: str = ""
    """The reasoning effort that the user chose. Deployments without this option ignore it."""
    own_instructions: Callable[[], Awaitable[str]] | None = None
    """A function that reads the user's custom instructions, or None if there are none."""
    folder_instructions: str = ""
    """The user's instructions for all conversations in this conversation's folder."""


NO_CHAT = ChatContext()
