"""Defines toolsets of the kind `dial-app`."""

from typing import Literal

from pydantic import Field

from apps.manifest.kind import Kind
from apps.manifest.nodes import Marks
from apps.manifest.toolsets.mcp import RemoteTools
from apps.manifest.toolsets.shared_fields import NamedToolSet
from apps.manifest.toolsets.tools import ConversationMode


class DialAppToolSet(NamedToolSet, RemoteTools):
    """An application or another deployment, used through its own tools or through one tool that
    calls it.
    """

    kind = Kind(
        title="Application",
        tools="tools of an application, or one tool that calls the application",
        order=5,
        is_deferrable=False,
        is_prefixed=True,
    )

    type: Literal["dial-app"] = "dial-app"
    """The toolset is an application or another deployment."""
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    """The ID of the application or deployment. A tool that calls the application has this ID as its
    name.
    """
    transport: Literal["auto", "mcp", "chat-completion"] = "auto"
    """`auto`: the application's MCP tools if the application declares MCP support, or else one tool
    that calls the application. `mcp`: the application's MCP tools. Without MCP support, the toolset
    is omitted, and the answer reports this. `chat-completion`: one tool that calls the application.
    """
    conversation_mode: ConversationMode | None = None
    """Allow the model to continue an earlier conversation with the application. Null: every call
    starts a new conversation.
    """

    @property
    def origin(self) -> str:
        return f"the application {self.deployment_id}"

    @property
    def server(self) -> str:
        return self.deployment_id
