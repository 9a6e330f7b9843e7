"""Defines the optional features of an application. An omitted feature has its default value; null
turns it off.
"""

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
from apps.manifest.features.subagents import Subagents
from apps.manifest.nodes import IN_PREVIEW, Node
from apps.manifest.toolsets.approvals import AnswerSeconds, Approval


class Notes(Node):
    """Tools that read and write the user's or the team's notes."""

    enabled: bool = False
    """Give the model the tools for notes. The tools are available only to signed-in users, and to
    API clients that use these users' keys.
    """
    approval: Approval | None = None
    """Controls which changes to notes need approval. Null: the rules in `features.approval`. If
    they set no mode, each change waits for the user's approval.
    """
    embedding_deployment_id: str | None = None
    """The ID of the embedding deployment. Null: the installation's embedding model."""


Figure = Literal["model", "version", "tokens", "cost", "first_text", "seconds", "tools"]


class Timestamp(Node):
    """Informs the model of the current time and the age of tool results."""

    injection_strategy: Literal["tool_call"] = "tool_call"
    """The only strategy. QuickApps adds the time to each question as if the model had called the
    tool `internal_timeawareness_current_timestamp`.
    """


class StageDisplay(Node):
    """Controls which tool calls users see."""

    level: Literal["none", "error", "info", "debug"] = "info"
    """The calls to show. `none`: no calls. `error`: failed calls. `info`: all calls from the model.
    `debug`: also automatic calls, such as hooks. The installation's `DEFAULT_STAGE_DISPLAY_LEVEL`
    overrides this field.
    """
    propagate_sub_stages: bool = True
    """Show the stages of deployments and sub-agents below the call that started them."""


class RepresentationTooling(Node):
    """A tool that adds attachments to the answer."""

    add_attachment: bool = True
    """Give the model the tool `internal_representation_add_attachment`, which adds a file or a link
    to its answer.
    """


class ModelKeys(Node):
    """The API keys that are used to call model services."""

    mode: Literal["platform_only", "user_keys"] = "platform_only"
    """The key to use. `user_keys`: the user's own key for the service, if the user has one and the
    deployment accepts users' keys; otherwise, the installation's key. `platform_only`: always the
    installation's key.
    """
    platform_pays: bool = False
    """If the service rejects the user's key, use the installation's key and show a notice in the
    answer. False: the answer fails.
    """


class RateLimits(Node):
    """Rate limits for the application, shared by all its callers."""

    requests_per_minute: int | None = Field(default=None, ge=0)
    """The maximum number of questions per minute. Further questions are rejected. Null or
    0: no limit.
    """
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """The maximum number of tokens in questions and answers per minute. Further questions are
    rejected. Null or 0: no limit.
    """


class Questions(Node):
    """A tool that lets the model ask the user a question."""

    seconds: AnswerSeconds | None = 300
    """The time that the user has to answer, in seconds, up to 30 days. When it expires, QuickApps
    informs the model that nobody answered. Null: no limit.
    """


class SearchConversations(Node):
    """A tool that finds earlier conversations of the same user with the same application."""

    enabled: bool = False
    """Give the model the tool `internal_search_conversations`. The tool is available only to
    signed-in users on the chat page. It does not search the current conversation.
    """


class Schedules(Node):
    """Tools with which the model sets an alarm and schedules tasks for the user."""

    enabled: bool = False
    """Give the model the tools `alarm-clock`, `schedule-task`, `list-schedules`, `update-schedule`,
    `remove-schedule` and `edit-heartbeat`. The tools are available only to signed-in users on the
    chat page, and to API clients that use these users' keys.
    """
    approval: Approval = Field(default_factory=lambda: Approval(mode="confirm"))
    """Controls whether `schedule-task`, `update-schedule` and `edit-heartbeat` need approval. By
    default, calls to these tools wait for the user's approval.
    """


class ToolAccessFilter(Node):
    """Silently omits tools that the caller may not use."""

    enabled: bool = False
    """Omit `dial-app` toolsets, `dial-mcp` toolsets and deployment tools that the caller may not
    use, without sending requests to them. If the caller's permissions are unavailable, all tools
    are offered. This field is not a security boundary.
    """


class ContextUsage(Node):
    """Reports how much of the model's context window each answer uses."""

    enabled: bool = False
    """Return `context_usage` in the state of an answer. The field is omitted if the model's context
    window is unknown, or if the service reports no token counts.
    """


class Features(Node):
    timestamp: Timestamp | None = Field(default_factory=Timestamp)
    """Inform the model of the current time in every question, and of the age of tool results.
    **This feature is on unless the value is null.**
    """
    file_loading: FileLoading = Field(default_factory=FileLoading)
    """Limits for files that the model, its tools and its services read."""
    external_url_fetch: ExternalUrlFetch = Field(default_factory=ExternalUrlFetch)
    """The files that may be fetched from the internet, within the installation's limits."""
    stage_display: StageDisplay = Field(default_factory=StageDisplay)
    """The tool calls that users see."""
    input_attachment_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types of the files that users may attach, such as `["application/pdf", "image/*"]`. DIAL
    Core also gets this list. Null: any type.
    """
    dial_files: DialFiles | None = None
    """Tools with which the model works in a folder of the caller's files. `{}`: all tools. Null:
    none.
    """
    web_fetch: WebFetch | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """A tool that reads pages and files on the web. Null: the model does not have the tool."""
    documents: Documents | None = None
    """Tools that read documents and answer questions from documents. Null: the model does not have
    the tools.
    """
    representation_tooling: RepresentationTooling | None = Field(
        default=None, json_schema_extra=IN_PREVIEW
    )
    """A tool that adds attachments to the answer. `{}`: the model has the tool. Null: the model
    does not have the tool.
    """
    questions: Questions | None = None
    """A tool with which the model asks the user a question. `{}`: the model has the tool. Null: the
    model does not have the tool.
    """
    search_conversations: SearchConversations | None = None
    """A tool that finds earlier conversations of the same user. Null: the model does not have the
    tool.
    """
    schedules: Schedules | None = None
    """Tools for an alarm and for scheduled tasks. Null: the model does not have the tools."""
    model_keys: ModelKeys | None = None
    """The API keys that QuickApps uses for calls to model services. Null: the installation's keys.
    """
    rate_limits: RateLimits | None = None
    """The application's rate limits. Null: the installation's rate limits."""
    retention: Retention | None = None
    """The maximum retention period for users' conversations on the page. Null: the user's setting.
    """
    answer_figures: tuple[Figure, ...] | None = None
    """The metrics of an answer that users see on the page, in events and in exports: `model`,
    `version`, `tokens`, `cost`, `first_text`, `seconds`, `tools`. This field can only restrict the
    metrics that the installation allows. `[]`: none. Null: the installation's `ANSWER_FIGURES` (all
    metrics by default).
    """
    titles: Titles | None = None
    """Controls how conversation titles are generated on the chat page. `{}`: a model writes the
    title, with one small call in parallel with the first answer. Null: the installation's
    `CONVERSATION_TITLES`. By default, the model that answers writes the title, if it can.
    """
    approval: Approval | None = None
    """The tool calls that need approval or are denied. Null: the installation's rules."""
    subagents: Subagents | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Sub-agents to which the model delegates tasks, each with its own toolsets. Null: none."""
    spawn_agent: SpawnAgent | None = None
    """Sub-agents of predefined kinds, which work in parallel. Null: none."""
    todo: Todo | None = None
    """A to-do list that the model maintains in the conversation. Null: none."""
    summary: Summary | None = None
    """A tool whose text becomes the end of the answer. Null: the model does not have the tool."""
    memory: Memory | None = None
    """Facts about a user that the model stores and reads in later conversations. Null: none."""
    notes: Notes | None = None
    """Read and write access to the user's or the team's notes. Null: none."""
    sharing: Sharing | None = None
    """The audience of shared conversations. Null: signed-in users."""
    context_usage: ContextUsage | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Report how much of the model's context window is used. Null: the usage is not reported."""
    tool_access_filter: ToolAccessFilter | None = None
    """Omit tools that the caller may not use. Null: all tools are offered."""
