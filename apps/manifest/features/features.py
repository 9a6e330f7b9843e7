"""Optional features of an application. An omitted feature has its default; null turns it off."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.features.agent_tools import SpawnAgent, Summary, Todo
from apps.manifest.features.conversations import Retention, Sharing, Titles
from apps.manifest.features.memory import Memory
from apps.manifest.features.notes import Notes
from apps.manifest.features.subagents import Subagents
from apps.manifest.nodes import IN_PREVIEW, Node, unpublished_default
from apps.manifest.toolsets.approvals import AnswerSeconds, Approval

FileTool = Literal[
    "list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move"
]

Figure = Literal["model", "version", "tokens", "cost", "first_text", "seconds", "tools"]

OFFLOAD_THRESHOLD = 40_000
"""The size in bytes above which results are written to files if the installation sets no other
limit.
"""

PositiveInt = Annotated[int, Field(gt=0)]


class Timestamp(Node):
    """Informs the model of the current time and the age of tool results."""

    injection_strategy: Literal["tool_call"] = "tool_call"
    """Controls how the model learns the time: each question looks as if the model had called the
    tool `internal_timeawareness_current_timestamp`. This is the only strategy.
    """


class FileLoading(Node):
    """Limits for files that the model, its tools and its services read."""

    size_limit: PositiveInt | None = None
    """The size limit in bytes for one file, or one response of a REST service. Null:
    `DEFAULT_FILE_LOADING_SIZE_LIMIT` of the installation, which is 10485760 (10 MiB) by default.
    """


class ExternalUrlFetch(Node):
    """Files on the Internet that users and models refer to. This can only restrict what the
    installation allows.
    """

    enabled: bool | None = None
    """False: this application fetches nothing from the Internet. True or null: the installation's
    `EXTERNAL_URL_FETCH_ENABLED`, which is off by default."""
    host_allowlist: tuple[str, ...] | None = None
    """Hosts that may be called, such as `["docs.example.com", "*.example.org"]`. `*.` matches all
    subdomains, but not the host itself. A host must also be allowed by the installation. Null: all
    hosts that the installation allows; `[]`: none.
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


class ResultOffload(Node):
    """Writes long tool results to a file that the model can read."""

    enabled: bool = Field(default_factory=unpublished_default(True))
    """Write large results to files. This requires the file tools `read_lines` and `search`. Left
    out: `TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT` of the installation, which is on by default.
    """
    size_threshold: int = Field(default_factory=unpublished_default(OFFLOAD_THRESHOLD), gt=0)
    """Results larger than this many bytes are written to files. Left out:
    `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` of the installation, which is 40000 by default.
    """
    excluded_tools: frozenset[str] = Field(default_factory=frozenset)
    """Names of tools, as the model sees them, whose results are never written to files. The
    installation's own list is added.
    """


class DialFiles(Node):
    """Tools that let the model work in a folder of the caller's files."""

    enabled_tools: Literal["all"] | tuple[FileTool, ...] = "all"
    """The file tools that the model gets. `list` means `internal_file_list`, and so on."""
    agent_home_dir: str = ""
    """The working folder of the tools, within the folder that holds the application's files for its
    caller: a relative path that ends with a slash, such as `notes/`. Empty: that folder itself.
    """
    tool_call_result_offload: ResultOffload | None = Field(
        default_factory=ResultOffload, json_schema_extra=IN_PREVIEW
    )
    """Write long tool results to files. Null: results remain unchanged."""
    max_files_scanned: int = Field(default=50, ge=1)
    """The maximum number of files that one folder search reads. The result reports whether there
    are more.
    """

    @field_validator("agent_home_dir")
    @classmethod
    def _is_a_relative_folder(cls, path: str) -> str:
        if path and (reason := _folder_problem(path)):
            raise PydanticCustomError("agent_home_dir", f"{reason}; use a path such as 'notes/'")
        return path


def _folder_problem(path: str) -> str:
    if path.startswith("/"):
        return "the path is relative and must not begin with '/'"
    if path.startswith("files/"):
        return "the path is relative to the application's folder and must not begin with 'files/'"
    if not path.endswith("/"):
        return "the path of a folder must end with '/'"
    segments = path[:-1].split("/")
    if ".." in segments:
        return "the path must not contain '..'"
    return "" if all(segments) else "the path must not contain empty segments"


class WebFetch(Node):
    """A tool that reads pages and files on the web."""

    enabled: bool = False
    """Give the model the tool `internal_web_fetch`. It requires the installation's
    `EXTERNAL_URL_FETCH_ENABLED`; without it, the tool is left out and the answer reports it.
    """
    max_inline_size: int = Field(default_factory=unpublished_default(OFFLOAD_THRESHOLD), gt=0)
    """The limit in bytes for a page that the model gets. Longer pages are truncated. Left out:
    `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` of the installation, which is 40000 by default.
    """


class Documents(Node):
    """Tools that read documents and answer from them."""

    enabled: bool = False
    """Give the model the tools `file_content_extraction_tool`, which reads the text of a document,
    and `rag_tool`, which answers a request from documents and cites its sources. Stored files in
    `contexts` are indexed in advance if the application belongs to this installation.
    """
    results: int = Field(default=3, ge=1, le=20)
    """The number of best-matching passages that an answer is based on."""
    embedding_deployment_id: str | None = None
    """The deployment that computes embeddings for semantic search, on behalf of the caller. Null:
    `EMBEDDINGS` of the installation. Without one, only keyword search is available.
    """
    vision_deployment_id: str | None = None
    """The deployment that reads PDF pages that are images without text. It is called on behalf of
    the caller, once per page. Null: the application's own model, if it accepts images.
    """
    source_names: bool = False
    """Name the tools `extract_file_content {file_url, page_number}` and `rag_search {query,
    file_urls}`, as older prompts expect.
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
    """The rate limits of the application. Null: those of the installation."""
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
