"""Optional abilities of an application. Absent means the defaults; null means none of them."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.agent_tools import SpawnAgent, Summary, Todo
from apps.manifest.approvals import AnswerSeconds, Approval
from apps.manifest.conversations import Retention, Sharing, Titles
from apps.manifest.memory import Memory
from apps.manifest.nodes import IN_PREVIEW, Node, unpublished
from apps.manifest.notes import Notes
from apps.manifest.subagents import Subagents

FileTool = Literal[
    "list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move"
]

Figure = Literal["model", "version", "tokens", "cost", "first_text", "seconds", "tools"]

OFFLOAD_THRESHOLD = 40_000
"""Characters; what an installation uses that sets nothing else."""

PositiveInt = Annotated[int, Field(gt=0)]


class Timestamp(Node):
    """The model knows what time it is, and how old the results of its tools are."""

    injection_strategy: Literal["tool_call"] = "tool_call"
    """How the model learns the time: with every question, as if it had called the tool
    `internal_timeawareness_current_timestamp`. There is no other way."""


class FileLoading(Node):
    """Limits for files that are read for the model, its tools and its services."""

    size_limit: PositiveInt | None = None
    """How many bytes one file, or one answer of a REST service, may have. Null:
    `DEFAULT_FILE_LOADING_SIZE_LIMIT` of the installation, which is 10485760 (10 MiB) unless it is
    set."""


class ExternalUrlFetch(Node):
    """Files of the Internet that users and models name. It can only narrow what the installation
    allows."""

    enabled: bool | None = None
    """False: this application fetches nothing from the Internet. True or null: as
    `EXTERNAL_URL_FETCH_ENABLED` of the installation says, which is off unless it is set."""
    host_allowlist: tuple[str, ...] | None = None
    """Hosts that may be asked, such as `["docs.example.com", "*.example.org"]`; `*.` stands for every
    host below and not for the host itself. Null: those that the installation allows; `[]`: none. A
    host has to be on both lists."""


class StageDisplay(Node):
    """Which calls of tools people see."""

    level: Literal["none", "error", "info", "debug"] = "info"
    """`none`: no calls of tools are shown; `error`: those that fail; `info`: all; `debug`: also what
    the platform does by itself, such as hooks. `DEFAULT_STAGE_DISPLAY_LEVEL` of the installation
    wins where it is set."""
    propagate_sub_stages: bool = True
    """Show the stages of deployments and sub-agents below the call that asked them; false hides
    them."""


class ResultOffload(Node):
    """Long tool results go into a file that the model can read."""

    enabled: bool = Field(default_factory=unpublished(True))
    """Write large results into files. It needs the file tools `read_lines` and `search`. Left out:
    `TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT` of the installation, which is on unless it is
    set."""
    size_threshold: int = Field(default_factory=unpublished(OFFLOAD_THRESHOLD), gt=0)
    """From how many bytes on a result is large. Left out:
    `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` of the installation, which is 40000 unless it is
    set."""
    excluded_tools: frozenset[str] = Field(default_factory=frozenset)
    """Names of tools, as the model sees them, whose results stay as they are however long they are.
    Those that the installation names are added."""


class DialFiles(Node):
    """Tools with which the model works in a folder of the caller's files."""

    enabled_tools: Literal["all"] | tuple[FileTool, ...] = "all"
    """Which file tools the model has. `list` means `internal_file_list`, and so on."""
    agent_home_dir: str = ""
    """The folder that the tools work in, below the place where the application makes files for its
    caller: a relative path that ends with a slash, such as `notes/`. Empty: that place itself."""
    tool_call_result_offload: ResultOffload | None = Field(
        default_factory=ResultOffload, json_schema_extra=IN_PREVIEW
    )
    """Write long results of tools into files. Null: results stay as they are."""
    max_files_scanned: int = Field(default=50, ge=1)
    """How many files one search of a folder reads; the result says when there were more."""

    @field_validator("agent_home_dir")
    @classmethod
    def _is_a_relative_folder(cls, path: str) -> str:
        if path and (reason := _folder_problem(path)):
            raise PydanticCustomError("agent_home_dir", f"{reason}; write a path like 'notes/'")
        return path


def _folder_problem(path: str) -> str:
    if path.startswith("/"):
        return "the path is relative and must not begin with '/'"
    if path.startswith("files/"):
        return "the path is relative to the application's folder and must not begin with 'files/'"
    if not path.endswith("/"):
        return "the path of a folder ends with '/'"
    segments = path[:-1].split("/")
    if ".." in segments:
        return "the path must not contain '..'"
    return "" if all(segments) else "the path must not contain empty segments"


class WebFetch(Node):
    """A tool that reads pages and files of the Web."""

    enabled: bool = False
    """Give the model the tool `internal_web_fetch`. It needs `EXTERNAL_URL_FETCH_ENABLED` in the
    installation; without it the tool is left out, and the answer says so."""
    max_inline_size: int = Field(default_factory=unpublished(OFFLOAD_THRESHOLD), gt=0)
    """How many bytes of a page the model is shown at most; of a longer one it gets the beginning.
    Left out: `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` of the installation, which is 40000 unless
    it is set."""


class Documents(Node):
    """Tools that read documents and answer from them."""

    enabled: bool = False
    """Give the model the tools `file_content_extraction_tool`, which reads the text of a document,
    and `rag_tool`, which answers a request from documents, with sources. Stored files in `contexts`
    are made ready to be searched beforehand, all together, in applications of this installation."""
    results: int = Field(default=3, ge=1, le=20)
    """From how many of the passages that fit best a request is answered."""
    embedding_deployment_id: str | None = None
    """The deployment that makes vectors of texts, for the search by meaning; it is asked for the
    caller. Null: as `EMBEDDINGS` of the installation says. Where there is none, documents are
    searched by words alone."""
    vision_deployment_id: str | None = None
    """The deployment that reads pages of a PDF that are images without text; it is asked for the
    caller, once for each page. Null: the application's own, if it takes images."""
    source_names: bool = False
    """Call the tools `extract_file_content {file_url, page_number}` and `rag_search {query,
    file_urls}` instead."""


class RepresentationTooling(Node):
    """A tool that puts attachments on the answer."""

    add_attachment: bool = True
    """Give the model the tool `internal_representation_add_attachment`, which puts a file or a link
    beside its answer."""


class ModelKeys(Node):
    """With whose keys the services of models are asked."""

    mode: Literal["platform_only", "user_keys"] = "platform_only"
    """`user_keys`: with the key of the person who asks, where they have one for the service and its
    deployment takes such keys; else with the installation's."""
    platform_pays: bool = False
    """Ask with the installation's key where the service refuses the person's, and say so. Otherwise the
    answer fails."""


class RateLimits(Node):
    """Limits of the application, of all its callers together."""

    requests_per_minute: int | None = Field(default=None, ge=0)
    """Further questions are refused. Null: as `APPLICATION_REQUESTS_PER_MINUTE` says; 0: no limit."""
    tokens_per_minute: int | None = Field(default=None, ge=0)
    """Tokens of questions and answers, after which questions are refused. Null: as
    `APPLICATION_TOKENS_PER_MINUTE` says; 0: no limit."""


class Questions(Node):
    """A tool with which the model asks the user."""

    seconds: AnswerSeconds | None = 300
    """How long there is time to answer, at most 30 days; then the model is told that nobody did.
    Null: there is no limit."""


class SearchConversations(Node):
    """A tool that finds earlier conversations of the same person with the same application."""

    enabled: bool = False
    """Give the model the tool `internal_search_conversations`. Only people who are signed in on the
    page have it; it finds nothing of the conversation that is going on."""


class Schedules(Node):
    """Tools with which the model sets an alarm, and schedules tasks for the person."""

    enabled: bool = False
    """Give the model the tools `alarm-clock`, `schedule-task`, `list-schedules`, `update-schedule`,
    `remove-schedule` and `edit-heartbeat`. Only people who are signed in on the page, and programs
    with their keys, have them."""
    approval: Approval = Field(default_factory=lambda: Approval(mode="confirm"))
    """Whether `schedule-task`, `update-schedule` and `edit-heartbeat` wait for the person: they do,
    unless it says otherwise."""


class ToolAccessFilter(Node):
    """Leaves out the tools that the caller may not use, without an error."""

    enabled: bool = False
    """Leave out tools of deployments and the toolsets `dial-app` and `dial-mcp` that the caller may not
    use, before anything is requested from them. If the list of what the caller may use is unavailable,
    all are offered. This is not a security boundary."""


class ContextUsage(Node):
    """Reports with each answer how full the context of the model is."""

    enabled: bool = False
    """Return `context_usage` in the state of an answer. It is left out if the window of the model is
    unknown, or if its service reports no tokens."""


class Features(Node):
    timestamp: Timestamp | None = Field(default_factory=Timestamp)
    """Tell the model the time with every question, and the age of what its tools said. **It is on
    unless it is null.**"""
    file_loading: FileLoading = Field(default_factory=FileLoading)
    """Limits for files that are read for the model, its tools and its services."""
    external_url_fetch: ExternalUrlFetch = Field(default_factory=ExternalUrlFetch)
    """Which files of the Internet may be fetched, within what the installation allows."""
    stage_display: StageDisplay = Field(default_factory=StageDisplay)
    """Which calls of tools people see."""
    input_attachment_types: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """MIME types of the files that users may attach, such as `["application/pdf", "image/*"]`; DIAL
    Core is told them too. Null: any."""
    dial_files: DialFiles | None = None
    """Tools with which the model works in a folder of the caller's files. `{}`: all of them; null:
    none."""
    web_fetch: WebFetch | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """A tool that reads pages and files of the Web. Null: the model has none."""
    documents: Documents | None = None
    """Tools that read documents and answer from them. Null: the model has none."""
    representation_tooling: RepresentationTooling | None = Field(
        default=None, json_schema_extra=IN_PREVIEW
    )
    """A tool that puts attachments on the answer. `{}`: the model has it; null: it does not."""
    questions: Questions | None = None
    """A tool with which the model asks the user. `{}`: the model has it; null: it does not."""
    search_conversations: SearchConversations | None = None
    """A tool that finds earlier conversations of the same person. Null: the model has none."""
    schedules: Schedules | None = None
    """An alarm, and tasks that are done by themselves at their times. Null: the model has none."""
    model_keys: ModelKeys | None = None
    """With whose keys the services of models are asked. Null: the installation's."""
    rate_limits: RateLimits | None = None
    """How often the application may be asked. Null: as the installation says."""
    retention: Retention | None = None
    """How long the conversations of people are kept, on the page and through its events. Null: as long
    as they wish."""
    answer_figures: tuple[Figure, ...] | None = None
    """Which figures of an answer people are told on the page, in its events and its exports: `model`,
    `version`, `tokens`, `cost`, `first_text`, `seconds`, `tools`. It can only narrow what the
    installation allows. `[]`: none; null: as `ANSWER_FIGURES` of the installation says, which is all
    of them unless it is set."""
    titles: Titles | None = None
    """Who writes the titles of conversations on the page. `{}`: a model, with one small call beside the
    first answer. Null: as `CONVERSATION_TITLES` of the installation says, which is the model that
    answers, if it can write titles, unless it is set."""
    approval: Approval | None = None
    """Which calls of tools wait for a person, and which are never made. Null: as the installation
    says."""
    subagents: Subagents | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Sub-agents that the model hands tasks to, each with its toolsets. Null: none."""
    spawn_agent: SpawnAgent | None = None
    """Helpers of predefined kinds, which work beside each other. Null: none."""
    todo: Todo | None = None
    """A list of what is to be done, which the model keeps in the conversation. Null: none."""
    summary: Summary | None = None
    """A tool whose text ends the answer. Null: the model has none."""
    memory: Memory | None = None
    """What the model remembers of a person, in later conversations too. Null: nothing."""
    notes: Notes | None = None
    """The notes of the person who asks, or of their team, for the model to read and to write. Null:
    the model has none."""
    sharing: Sharing | None = None
    """Who may read the conversations that people share. Null: people who are signed in."""
    context_usage: ContextUsage | None = Field(default=None, json_schema_extra=IN_PREVIEW)
    """Report how full the context of the model is. Null: it is not reported."""
    tool_access_filter: ToolAccessFilter | None = None
    """Leave out tools that the caller may not use. Null: all are offered."""
