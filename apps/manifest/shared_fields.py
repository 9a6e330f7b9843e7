"""Fields that several kinds of toolset have."""

from typing import Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from apps.manifest.approvals import Approval
from apps.manifest.attachments import AttachmentFilter
from apps.manifest.fallbacks import Fallback
from apps.manifest.names import Localized
from apps.manifest.nodes import IN_PREVIEW, Node


class Described(Node):
    """What every toolset may have, except a predefined one."""

    description: Localized | None = None
    """What the toolset is for; one text, or one for each language as for `name`. The model reads it
    where it chooses among toolsets: when it searches for tools, and for sub-agents."""
    approval: Approval | None = None
    """Which calls of its tools wait for a person, and which are never made. Null: as
    `features.approval` says."""
    enabled: bool = True
    """False: the toolset is left out, as if it were not written."""
    deferred: bool | None = Field(default=True, json_schema_extra=IN_PREVIEW)
    """False: always list these tools, also when `orchestrator.tool_discovery` withholds others. Tools
    of `dial-deployment` and `dial-app` are always listed."""


class Named(Described):
    """What every toolset has that is not one of DIAL's."""

    name: Localized
    """Stands in front of the names of its tools (`desk` makes `desk_find_ticket` of `find_ticket`;
    tools of deployments, of the page, and internal tools keep their own) and in the titles of their
    stages. Empty for an MCP server: what the server calls itself. One text, or one for each language: `{"en": "Desk", "de": "Schalter"}`, of which the model
    sees the English one."""


class RemoteTools(Node):
    """What toolsets share whose tools are told by a server."""

    allowed_tools: tuple[str, ...] | None = None
    """Names of the tools that there are, as the server tells them: `["find_ticket"]`. Null or `[]`:
    all."""
    hidden_from_model: tuple[str, ...] | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Names of tools, as the server tells them, that hooks may call and the model never sees. Where
    `allowed_tools` names any, it has to name these too. Null: none."""
    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Which files of the results are kept, and which the answer shows; for all tools."""
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """What happens when one of the tools fails. Left out: the model is told and goes on."""
    is_repeatable: bool | None = None
    """Whether two calls of a tool have the effect of one. True: a call is made again if the process
    that made it ended before its result was known; false: the model is told that it may have been
    carried out. Null: as the server says of each tool, which are not repeated if it says nothing."""
    is_untrusted: bool | None = None
    """Whether others decide what the results and resources say, as with a search of the Web. After
    such a result, `approval.after_untrusted` may make calls wait. Null: as the server says of each
    tool (`openWorldHint`), else false."""

    @model_validator(mode="after")
    def _hides_what_it_allows(self) -> Self:
        if not self.allowed_tools or not self.hidden_from_model:
            return self
        unknown = [name for name in self.hidden_from_model if name not in self.allowed_tools]
        if unknown:
            raise PydanticCustomError(
                "hidden_not_allowed",
                "`hidden_from_model` names {names}, not in `allowed_tools`; add it there too",
                {"names": ", ".join(map(repr, unknown))},
            )
        return self
