"""Defines the features that read files, web pages and documents."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import IN_PREVIEW, Node, unpublished_default

FileTool = Literal[
    "list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move"
]

OFFLOAD_THRESHOLD = 40_000
"""The default size in bytes above which tool results are written to files."""

PositiveInt = Annotated[int, Field(gt=0)]


class FileLoading(Node):
    """Limits for files that the model, its tools and its services read."""

    size_limit: PositiveInt | None = None
    """The size limit in bytes for one file, or for one response from a REST service. Null: the
    installation's `DEFAULT_FILE_LOADING_SIZE_LIMIT` (10485760, or 10 MiB, by default).
    """


class ExternalUrlFetch(Node):
    """Limits which files QuickApps fetches from the internet. These fields can only restrict what
    the installation allows.
    """

    enabled: bool | None = None
    """False: this application fetches nothing from the internet. True or null: the installation's
    `EXTERNAL_URL_FETCH_ENABLED` (off by default).
    """
    host_allowlist: tuple[str, ...] | None = None
    """Hosts from which files may be fetched, such as `["docs.example.com", "*.example.org"]`. `*.`
    matches all subdomains, but not the host itself. The installation must also allow the host.
    Null: all hosts that the installation allows. `[]`: none.
    """


class ResultOffload(Node):
    """Writes long tool results to a file that the model can read."""

    enabled: bool = Field(default_factory=unpublished_default(True))
    """Write large results to files. Requires the file tools `read_lines` and `search`. Omitted: the
    installation's `TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT` (on by default).
    """
    size_threshold: int = Field(default_factory=unpublished_default(OFFLOAD_THRESHOLD), gt=0)
    """The size in bytes above which results are written to files. Omitted: the installation's
    `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` (40000 by default).
    """
    excluded_tools: frozenset[str] = Field(default_factory=frozenset)
    """Names of tools, as the model sees them, whose results are never written to files. The tools
    in the installation's own list are also excluded.
    """


class DialFiles(Node):
    """Tools that let the model work in a folder of the caller's files."""

    enabled_tools: Literal["all"] | tuple[FileTool, ...] = "all"
    """The file tools that the model gets. `list` enables `internal_file_list`, and so on."""
    agent_home_dir: str = ""
    """The tools' working folder, as a relative path that ends with a slash, such as `notes/`. The
    path is relative to the folder that contains the application's files for the caller. Empty: that
    folder itself.
    """
    tool_call_result_offload: ResultOffload | None = Field(
        default_factory=ResultOffload, json_schema_extra=IN_PREVIEW
    )
    """Write long tool results to files. Null: results remain unchanged."""
    max_files_scanned: int = Field(default=50, ge=1)
    """The maximum number of files that a folder search reads. The result reports whether there are
    more files.
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
    """Give the model the tool `internal_web_fetch`. The tool requires the installation's
    `EXTERNAL_URL_FETCH_ENABLED`. Without this setting, the tool is omitted, and the answer reports
    this.
    """
    max_inline_size: int = Field(default_factory=unpublished_default(OFFLOAD_THRESHOLD), gt=0)
    """The maximum size in bytes of the page content that the model gets. Longer pages are
    truncated. Omitted: the installation's `TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD` (40000 by
    default).
    """


class Documents(Node):
    """Tools that read documents and answer questions from them."""

    enabled: bool = False
    """Give the model two tools. `file_content_extraction_tool` reads the text of a document.
    `rag_tool` answers a request from documents and cites its sources. If the application belongs to
    this installation, stored files in `contexts` are indexed in advance.
    """
    results: int = Field(default=3, ge=1, le=20)
    """The number of best-matching passages on which an answer is based."""
    embedding_deployment_id: str | None = None
    """The deployment that computes embeddings for semantic search, on behalf of the caller. Without
    a deployment, only keyword search is available. Null: the installation's `EMBEDDINGS`.
    """
    vision_deployment_id: str | None = None
    """The deployment that transcribes PDF pages without text. QuickApps calls it on behalf of the
    caller, once per page. Null: the application's own model, if this model accepts images.
    """
    source_names: bool = False
    """Use the names and parameters that older prompts expect: `extract_file_content {file_url,
    page_number}` and `rag_search {query, file_urls}`.
    """
