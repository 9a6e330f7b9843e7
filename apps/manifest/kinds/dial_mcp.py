"""Defines toolsets of the kind `dial-mcp`."""

from typing import Literal, Self
from urllib.parse import unquote

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.kind import Kind
from apps.manifest.nodes import Marks
from apps.manifest.toolsets.mcp import McpTools
from apps.manifest.toolsets.shared_fields import ToolSetFields

UNNAMED = "untitled-mcp-toolset"


class DialMcpToolSet(ToolSetFields, McpTools):
    """A toolset that is stored in DIAL Core."""

    kind = Kind(
        title="DIAL toolset",
        tools="tools of a toolset in DIAL Core",
        order=6,
        is_prefixed=True,
    )

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["deployment_id"]}, {"required": ["dial_id"]}]}
    )

    type: Literal["dial-mcp"] = "dial-mcp"
    """The toolset is stored in DIAL Core."""
    name: str = UNNAMED
    """The prefix of the toolset's tool names, if DIAL Core has no name for the toolset. Hooks and
    sub-agents refer to the toolset by this name. Omitted: the server's own name.
    """
    deployment_id: str = Field(default_factory=str, json_schema_extra=Marks(resource=True))
    """The ID of the toolset, such as `toolsets/public/calendar`. DIAL Core stores the server's URL
    and the sign-in method.
    """
    dial_id: str = Field(
        default_factory=str,
        json_schema_extra=Marks(deprecated=True, resource=True, advice="Use `deployment_id`."),
    )
    """An older name for `deployment_id`. If both fields are set, `deployment_id` takes precedence.
    """
    transport: Literal["HTTP", "SSE"] = Field(
        default="HTTP",
        json_schema_extra=Marks(
            advice="Do not set this field, because DIAL Core determines the transport."
        ),
    )
    """Has no effect."""

    @property
    def id(self) -> str:
        """Return the toolset's ID, from `deployment_id` or else from the older field `dial_id`."""
        return self.deployment_id or self.dial_id

    @property
    def label(self) -> str:
        if self.name == UNNAMED:
            return unquote(self.id.rstrip("/").rpartition("/")[2])
        return self.name

    @property
    def origin(self) -> str:
        return f"the toolset {self.id}"

    @property
    def server(self) -> str:
        return self.id

    @model_validator(mode="after")
    def _names_a_toolset(self) -> Self:
        if not self.id:
            raise PydanticCustomError(
                "deployment_missing", "has no `deployment_id`; set it to the ID of a toolset"
            )
        return self
