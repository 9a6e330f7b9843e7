"""Defines the manifest: the document in which an operator declares an application."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from apps.manifest.contexts import Context
from apps.manifest.features.features import Features
from apps.manifest.hooks import Hook
from apps.manifest.nodes import IN_PREVIEW, PREVIEW, Marks, Node
from apps.manifest.orchestrator import Orchestrator
from apps.manifest.toolsets.kinds import ToolSet


class PromptSkill(Node):
    """A skill that is stored as a prompt in DIAL Core."""

    type: Literal["dial-prompt"] = "dial-prompt"
    """The skill is a prompt in DIAL Core."""
    url: str = Field(json_schema_extra=Marks(resource=True))
    """The path of the prompt, `prompts/<bucket>/<path>`. The text of the prompt is a skill
    document. If the skill cannot be read, it is omitted, and the answer reports this.
    """


class FolderSkill(Node):
    """A skill that is stored as a folder in DIAL Core, with files next to its skill document."""

    model_config = ConfigDict(json_schema_extra=PREVIEW)

    type: Literal["dial-skill"] = "dial-skill"
    """The skill is a folder in DIAL Core."""
    url: str = Field(json_schema_extra=Marks(resource=True))
    """The path of a folder that contains a `SKILL.md`, `skills/<bucket>/<path>`. Requires DIAL Core
    0.48.0 or later.
    """


Skill = Annotated[PromptSkill | FolderSkill, Field(discriminator="type")]


class Starter(Node):
    """A button that starts a conversation."""

    title: str
    """The label of the button."""
    text: str
    """The question that the button sends."""


LONGEST_QUESTION = 100_000
"""The maximum number of characters in a question."""


class ConversationStarters(Node):
    """Suggested questions that a new conversation offers as buttons."""

    intro_text: str = "Select an action"
    """The text above the buttons."""
    chat_message_input_disabled: bool = False
    """True: the message box is disabled, so users can start a conversation only with a button."""
    auto_submit: bool = True
    """Send the question immediately. False: put the question in the message box, where the user can
    edit it.
    """
    starters: tuple[Starter, ...] = Field(min_length=1)
    """The buttons, in display order."""


class ToolDefaults(Node):
    """Limits for all tool calls."""

    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] | None = None
    """The time limit for one tool call in seconds, including all attempts. For a deployment that is
    called as a tool, this is also the idle timeout. Null: the installation's
    `DEFAULT_TOOL_TIMEOUT_SECONDS` (300 by default).
    """


class Manifest(Node):
    orchestrator: Orchestrator
    """The model that answers, its prompt and its limits."""
    contexts: tuple[Context, ...]
    """The application's initial knowledge: texts that are added to the prompt, and files that are
    listed for the model. `[]` for none.
    """
    tool_sets: tuple[ToolSet, ...]
    """The tools that the model may call, grouped into toolsets. `[]` for none."""
    starters: tuple[str, ...] | None = Field(
        default=None,
        json_schema_extra=Marks(deprecated=True, advice="Use `conversation_starters`."),
    )
    """Questions that a new conversation offers as buttons. Ignored if `conversation_starters` is
    set.
    """
    conversation_starters: ConversationStarters | None = None
    """Suggested questions that a new conversation offers as buttons. Null: none."""
    skills: tuple[Skill, ...] | None = None
    """Instructions stored in DIAL that the model reads when a task needs them. Every application
    also has the predefined skills.
    """
    hooks: tuple[Hook, ...] | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Tools that QuickApps calls automatically before or after the model, for example to read and
    write memories.
    """
    features: Features | None = Field(default_factory=Features)
    """The application's abilities in addition to its tools. Omitted or `{}`: every feature has its
    default value, so the model knows the current time. Null: no features, not even the current
    time.
    """
    tool_defaults: ToolDefaults = Field(default_factory=ToolDefaults)
    """Limits for all tool calls."""

    @property
    def offered_starters(self) -> ConversationStarters | None:
        """Return the conversation starters. The older field `starters` is the fallback."""
        if self.conversation_starters is not None or not self.starters:
            return self.conversation_starters
        written = tuple(Starter(title=text, text=text) for text in self.starters)
        return ConversationStarters(starters=written)

    @property
    def input_attachment_types(self) -> tuple[str, ...]:
        """Return the MIME types of files that users may attach, or () for all types."""
        return (self.features and self.features.input_attachment_types) or ()
