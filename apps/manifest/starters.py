"""What a new conversation offers to begin with."""

from __future__ import annotations

from pydantic import Field

from apps.manifest.nodes import Node


class Starter(Node):
    """One button."""

    title: str
    """What stands on the button."""
    text: str
    """The question that it asks."""


class ConversationStarters(Node):
    """Buttons that a new conversation offers to begin with."""

    intro_text: str = "Select an action"
    """What stands above the buttons."""
    chat_message_input_disabled: bool = False
    """A conversation can be begun with a button only; nothing can be typed."""
    auto_submit: bool = True
    """Ask the question at once; false: put it into the input, where it can be changed."""
    starters: tuple[Starter, ...] = Field(min_length=1)
    """The buttons, in their order."""
