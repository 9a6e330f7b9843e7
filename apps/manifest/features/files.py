"""Features of files, web pages and documents."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import IN_PREVIEW, Node, unpublished_default

FileTool = Literal[
    "list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move"
]

OFFLOAD_THRESHOLD = 40_000
"""The size in bytes above which results are written to files if the installation sets no other
limit.
"""

PositiveInt = Annotated[int, Field(gt=0)]


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
