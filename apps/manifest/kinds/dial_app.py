"""Toolsets of the kind `dial-app`."""

from typing import Literal

from pydantic import Field

from apps.manifest.kind import Kind
from apps.manifest.nodes import Marks
from apps.manifest.toolsets.mcp import RemoteTools
from apps.manifest.toolsets.shared_fields import Named
from apps.manifest.toolsets.tools import ConversationMode


class DialAppToolSet(Named, RemoteTools):
    """An application or another deployment, used through its own tools or through one tool that
    calls it.
    """

    kind = Kind(
        title="Application",
        tools="tools of an application, or one tool that calls it",
        order=5,
        is_deferrable=False,
        is_prefixed=True,
    )

    type: Literal["dial-app"] = "dial-app"
    """The toolset is an application or another deployment."""
    deployment_id: str = Field(json_schema_extra=Marks(resource=True))
    """The ID of the application or deployment. A tool that calls it has this ID as its name."""
    transport: Literal["auto", "mcp", "chat-completion"] = "auto"
    """`auto`: its MCP tools if it declares MCP support, else one tool that calls it. `mcp`: its
    MCP tools; without MCP support, the toolset is left out and the answer reports it.
    `chat-completion`: one tool that calls it."""
    conversation_mode: ConversationMode | None = None
    """Allow the model to continue an earlier conversation with the application. Null: every call
    starts a new one.
    """

    @property
    def origin(self) -> str:
        return f"the application {self.deployment_id}"

    @property
    def server(self) -> str:
        return self.deployment_id
