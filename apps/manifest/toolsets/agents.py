"""Defines the common fields of toolsets whose only tool calls an agent on another server."""

from collections.abc import Iterator

from pydantic import Field

from apps.manifest.names import localize_text, sanitize
from apps.manifest.toolsets.attachments import AttachmentFilter
from apps.manifest.toolsets.authorizations import RestAuthorization
from apps.manifest.toolsets.fallback_strategies import Fallback
from apps.manifest.toolsets.shared_fields import NamedToolSet


class AgentToolSet(NamedToolSet):
    """An agent on another server."""

    authorization: RestAuthorization | None = None
    """The authentication for the agent's server. QuickApps sends an API key in a header or in the
    URL. Null: none.
    """
    attachment: AttachmentFilter = Field(default_factory=AttachmentFilter)
    """Selects which files in the agent's answers are stored, and which of them the application's
    answer shows.
    """
    fallback_configuration: Fallback = Field(default_factory=Fallback)
    """Controls what happens when a call fails. Omitted: the model gets the error and continues."""
    is_repeatable: bool = False
    """True if calling the agent twice has the same effect as calling it once. If true, QuickApps
    repeats a call whose process ended before the result was known. If false, QuickApps informs the
    model that the call may have been executed.
    """
    is_untrusted: bool = True
    """True if third parties may control the agent's answers, for example because the agent reads
    web pages or email. After such an answer, `approval.after_untrusted` can require approval for
    calls.
    """

    def visible_tools(self) -> Iterator[tuple[str, str]]:
        if name := localize_text(self.name):
            yield sanitize(name), "name"
