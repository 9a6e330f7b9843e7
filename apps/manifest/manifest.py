"""The manifest: a whole application in one document, as an operator writes it."""

from typing import Annotated

from pydantic import Field

from apps.manifest.contexts import Context
from apps.manifest.features import Features
from apps.manifest.hooks import Hook
from apps.manifest.nodes import IN_PREVIEW, Marks, Node
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.skills import Skill
from apps.manifest.toolsets import ToolSet


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


class ToolDefaults(Node):
    """Limits for the calls of all tools."""

    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    """How many seconds one call of a tool may take, with all its attempts; a deployment that is
    called as a tool may be silent for so long. Null: `DEFAULT_TOOL_TIMEOUT_SECONDS` of the
    installation, which is 300 unless it is set."""


class Manifest(Node):
    orchestrator: Orchestrator
    """The model that answers, its prompt, and the limits of its loop."""
    contexts: tuple[Context, ...]
    """What the application knows from the start: texts that go into the prompt, and files that the
    model is told of. `[]` for none."""
    tool_sets: tuple[ToolSet, ...]
    """The tools that the model may call, in groups. `[]` for none."""
    starters: tuple[str, ...] | None = Field(
        default=None,
        json_schema_extra=Marks(deprecated=True, advice="Write `conversation_starters`."),
    )
    """Questions that a new conversation offers as buttons. Ignored where `conversation_starters` is
    set."""
    conversation_starters: ConversationStarters | None = None
    """Buttons that a new conversation offers to begin with. Null: none."""
    skills: tuple[Skill, ...] | None = None
    """Instructions kept in DIAL that the model reads when a task calls for them. They come in
    addition to the predefined skills, which every application has."""
    hooks: tuple[Hook, ...] | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Tools that are called by themselves, before the model is asked or after it has answered; for
    example to read and to write a memory."""
    features: Features | None = Field(default_factory=Features)
    """What the application can do beside calling its tools. Left out, or `{}`: every feature has
    its default, so the model knows the time. Null: none of them, the time included."""
    tool_defaults: ToolDefaults = Field(default_factory=ToolDefaults)
    """Limits for the calls of all tools."""

    @property
    def input_attachment_types(self) -> tuple[str, ...]:
        """MIME types of the files that users may attach; () for any."""
        return (self.features and self.features.input_attachment_types) or ()
