"""Earlier conversations of a caller, as a run may search them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """`address` is that of its page, from the root of the site; `excerpt` is a part of a message."""

    title: str
    address: str
    updated_at: datetime
    excerpt: str


SearchConversations = Callable[[str, int], Awaitable[Sequence[FoundConversation]]]
"""The caller's earlier conversations with the application that have these words, the best first, and
at most so many. Any text can be searched for."""
