"""What a new conversation offers to begin with."""

from __future__ import annotations

from pydantic import Field

from apps.manifest.nodes import Node


class Starter(Node):
    title: str
    text: str


class ConversationStarters(Node):
    intro_text: str = "Select an action"
    chat_message_input_disabled: bool = False
    auto_submit: bool = Field(default=True, description="Send the text at once.")
    starters: tuple[Starter, ...] = Field(min_length=1)
