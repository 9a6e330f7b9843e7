"""Defines toolsets of the kind `client`."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from apps.manifest.kind import Kind
from apps.manifest.names import sanitize
from apps.manifest.toolsets.client_tools import PLATFORM_NAMES, ClientTool
from apps.manifest.toolsets.shared_fields import NamedToolSet


class ClientToolSet(NamedToolSet):
    """Tools that the chat page runs in the user's browser."""

    kind = Kind(
        title="Chat page",
        tools="tools that the chat page runs in the user's browser",
        order=7,
        reserved=PLATFORM_NAMES,
    )

    type: Literal["client"] = "client"
    """The chat page runs the tools."""
    seconds: float = Field(default=90, gt=0, le=3600)
    """The time limit for a call in seconds. When it expires, QuickApps informs the model that there
    was no answer.
    """
    tools: tuple[ClientTool, ...]
    """The tools. They are available only while the conversation is open on the chat page."""

    @property
    def origin(self) -> str:
        names = ", ".join(tool.name for tool in self.tools)
        return f"tools of the chat page: {names}"

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        for index, tool in enumerate(self.tools):
            if tool.enabled:
                yield sanitize(tool.name), f"tools[{index}].name"
