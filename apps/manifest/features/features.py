"""Optional features of an application. An omitted feature has its default; null turns it off."""

from typing import Annotated, Literal

from pydantic import Field

from apps.manifest.features.agent_tools import SpawnAgent, Summary, Todo
from apps.manifest.features.conversations import Retention, Sharing, Titles
from apps.manifest.features.files import (
    DialFiles,
    Documents,
    ExternalUrlFetch,
    FileLoading,
    WebFetch,
)
from apps.manifest.features.memory import Memory
from apps.manifest.features.notes import Notes
from apps.manifest.features.subagents import Subagents
from apps.manifest.nodes import IN_PREVIEW, Node
from apps.manifest.toolsets.approvals import AnswerSeconds, Approval

Figure = Literal["model", "version", "tokens", "cost", "first_text", "seconds", "tools"]


class Timestamp(Node):
    """Informs the model of the current time and the age of tool results."""

    injection_strategy: Literal["tool_call"] = "tool_call"
    """Controls how the model learns the time: each question looks as if the model had called the
    tool `internal_timeawareness_current_timestamp`. This is the only strategy.
    """


class StageDisplay(Node):
    """The tool calls that users see."""

    level: Literal["none", "error", "info", "debug"] = "info"
    """The calls to show. `none`: none; `error`: failed calls; `info`: all calls of the model;
    `debug`: also automatic calls, such as hooks. `DEFAULT_STAGE_DISPLAY_LEVEL` of the installation
    overrides it.
    """
    propagate_sub_stages: bool = True
    """Show the stages of deployments and sub-agents below the call that started them; false hides
    them.
    """


class RepresentationTooling(Node):
    """A tool that adds attachments to the answer."""

    add_attachment: bool = True
    """Give the model the tool `internal_representation_add_attachment`, which adds a file or a link
    to its answer.
    """


class ModelKeys(Node):
    """The API keys that are used to call model services."""

    mode: Literal["platform_only", "user_keys"] = "platform_only"
    """The key to use. `user_keys`: the user's own key, if they have one for the service and the
    deployment accepts users' keys; else the installation's key. `platform_only`: always the
    installation's key.
    """
    platform_pays: bool = False
    """If the service rejects the user's key, use the installation's key and report it. Otherwise
    the answer fails."""


class RateLimits(Node):
    """Rate limits of the application, shared by all its callers."""

    requests_per_minute: int | None = Field(default=None, ge=0)
    """The number of questions per minute; further ones are rejected. Null:
    `APPLICATION_REQUESTS_PER_MINUTE`; 0: no limit.
    """
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """The number of tokens in questions and answers per minute; further questions are rejected.
    Null: `APPLICATION_TOKENS_PER_MINUTE`; 0: no limit.
    """


class Questions(Node):
    """A tool that lets the model ask the user a question."""

    seconds: AnswerSeconds | None = 300
    """The time to answer in seconds, up to 30 days. After that, the model is informed that nobody
    answered. Null: no limit.
    """


class SearchConversations(Node):
    """A tool that finds earlier conversations of the same user with the same application."""

    enabled: bool = False
    """Give the model the tool `internal_search_conversations`. It is only available to users signed
    in on the chat page. It does not search the current conversation.
    """


class Schedules(Node):
    """Tools with which the model sets an alarm and schedules tasks for the user."""

    enabled: bool = False
    """Give the model the tools `alarm-clock`, `schedule-task`, `list-schedules`, `update-schedule`,
    `remove-schedule` and `edit-heartbeat`. They are only available to signed-in users on the chat
    page and to API clients with these users' keys.
    """
    approval: Approval = Field(default_factory=lambda: Approval(mode="confirm"))
    """Controls whether `schedule-task`, `update-schedule` and `edit-heartbeat` need approval; by
    default, they wait for the user.
    """


class ToolAccessFilter(Node):
    """Silently leaves out tools that the caller may not use."""

    enabled: bool = False
    """Leave out `dial-app` and `dial-mcp` toolsets and tools of deployments that the caller may not
    use, before any request to them. If the caller's permissions are unavailable, all tools are
    offered. This is not a security boundary.
    """


class ContextUsage(Node):
    """Reports with each answer how much of the model's context window is used."""

    enabled: bool = False
    """Return `context_usage` in the state of an answer. It is left out if the context window of the
    model is unknown, or if its service reports no token counts.
    """


class Features(Node):
    timestamp: Timestamp | None = Field(default_factory=Timestamp)
    """Include the time in every question, and the age of tool results. **It is on unless it is
    null.**
    """
    file_loading: FileLoading = Field(default_factory=FileLoading)
    """Limits for files that the model, its tools and its services read."""
    external_url_fetch: ExternalUrlFetch = Field(default_factory=ExternalUrlFetch)
    """The files on the Internet that may be fetched, within the limits of the installation."""
    stage_display: StageDisplay = Field(default_factory=StageDisplay)
    """The tool calls that users see."""
    input_attachment_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types of the files that users may attach, such as `["application/pdf", "image/*"]`; DIAL
    Core gets this list too. Null: any.
    """
    dial_files: DialFiles | None = None
    """Tools that let the model work in a folder of the caller's files. `{}`: all of them; null:
    none.
    """
    web_fetch: WebFetch | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """A tool that reads pages and files on the web. Null: the model does not have it."""
    documents: Documents | None = None
    """Tools that read documents and answer from them. Null: the model does not have them."""
    representation_tooling: RepresentationTooling | None = Field(
        default=None, json_schema_extra=IN_PREVIEW
    )
    """A tool that adds attachments to the answer. `{}`: the model has it; null: it does not."""
    questions: Questions | None = None
    """A tool that lets the model ask the user a question. `{}`: the model has it; null: it does
    not.
    """
    search_conversations: SearchConversations | None = None
    """A tool that finds earlier conversations of the same user. Null: none."""
    schedules: Schedules | None = None
    """Tools for an alarm and for scheduled tasks. Null: the model does not have them."""
    model_keys: ModelKeys | None = None
    """The API keys that are used to call model services. Null: the installation's keys."""
    rate_limits: RateLimits | None = None
    """The rate limits of the application. Null: the limits of the installation."""
    retention: Retention | None = None
    """The maximum time that users' conversations on the page are retained. Null: the user's
    setting.
    """
    answer_figures: tuple[Figure, ...] | None = None
    """The metrics of an answer that users see on the page, in its events and its exports: `model`,
    `version`, `tokens`, `cost`, `first_text`, `seconds`, `tools`. The setting can only restrict
    what the installation allows. `[]`: none; null: `ANSWER_FIGURES` of the installation, by default
    all of them.
    """
    titles: Titles | None = None
    """Controls what writes conversation titles on the chat page. `{}`: a model, with one small call
    in parallel to the first answer. Null: `CONVERSATION_TITLES` of the installation, by default the
    model that answers, if it can write titles.
    """
    approval: Approval | None = None
    """The tool calls that need approval or are denied. Null:
    the rules of the installation.
    """
    subagents: Subagents | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Sub-agents that the model delegates tasks to, each with its own toolsets. Null: none."""
    spawn_agent: SpawnAgent | None = None
    """Sub-agents of predefined kinds, which work in parallel. Null: none."""
    todo: Todo | None = None
    """A to-do list that the model maintains in the conversation. Null: none."""
    summary: Summary | None = None
    """A tool whose text ends the answer. Null: the model does not have it."""
    memory: Memory | None = None
    """Facts about a user that the model stores and reads in later conversations. Null: none."""
    notes: Notes | None = None
    """Read and write access to the notes of the user or their team. Null: none."""
    sharing: Sharing | None = None
    """The audience of shared conversations. Null: signed-in users."""
    context_usage: ContextUsage | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Report how much of the model's context window is used. Null: it is not reported."""
    tool_access_filter: ToolAccessFilter | None = None
    """Leave out tools that the caller may not use. Null: all are offered."""
