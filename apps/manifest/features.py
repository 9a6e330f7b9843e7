"""Optional abilities of an application. Absent means the defaults; null means none of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from apps.manifest.nodes import Marks, Node, unpublished
from apps.manifest.subagents import Subagents

FileTool = Literal[
    "list", "read_lines", "search", "find", "write", "edit", "delete", "copy", "move"
]

OFFLOAD_THRESHOLD = 40_000
"""Characters; what an installation uses that sets nothing else."""

PositiveInt = Annotated[int, Field(gt=0)]


class Timestamp(Node):
    injection_strategy: Literal["tool_call"] = "tool_call"


class FileLoading(Node):
    size_limit: PositiveInt | None = Field(default=None, description="Bytes.")


class ExternalUrlFetch(Node):
    """Can only narrow what the installation allows."""

    enabled: bool | None = None
    host_allowlist: tuple[str, ...] | None = Field(
        default=None, description='"host" or "*.host"; an empty list allows no host at all.'
    )


class StageDisplay(Node):
    level: Literal["none", "error", "info", "debug"] = "info"
    propagate_sub_stages: bool = True


class ResultOffload(Node):
    """Long tool results go into a file that the model can read."""

    enabled: bool = Field(default_factory=unpublished(True))
    size_threshold: int = Field(default_factory=unpublished(OFFLOAD_THRESHOLD), gt=0)
    excluded_tools: frozenset[str] = Field(default_factory=frozenset)


class DialFiles(Node):
    enabled_tools: Literal["all"] | tuple[FileTool, ...] = "all"
    agent_home_dir: str = ""
    tool_call_result_offload: ResultOffload | None = Field(
        default_factory=ResultOffload, json_schema_extra=Marks(preview=True)
    )
    max_files_scanned: int = Field(default=50, ge=1)

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
    enabled: bool = False
    max_inline_size: int = Field(default_factory=unpublished(OFFLOAD_THRESHOLD), gt=0)


class RepresentationTooling(Node):
    add_attachment: bool = True


class ToolAccessFilter(Node):
    """Deployments that the caller may not use are no tools, and nothing is said about it."""

    enabled: bool = False


class Features(Node):
    timestamp: Timestamp | None = Field(default_factory=Timestamp)
    file_loading: FileLoading = Field(default_factory=FileLoading)
    external_url_fetch: ExternalUrlFetch = Field(default_factory=ExternalUrlFetch)
    stage_display: StageDisplay = Field(default_factory=StageDisplay)
    dial_files: DialFiles | None = None
    web_fetch: WebFetch | None = Field(default=None, json_schema_extra=Marks(preview=True))
    representation_tooling: RepresentationTooling | None = Field(
        default=None, json_schema_extra=Marks(preview=True)
    )
    subagents: Subagents | None = Field(default=None, json_schema_extra=Marks(preview=True))
    tool_access_filter: ToolAccessFilter | None = Field(
        default=None, json_schema_extra=Marks(preview=True)
    )
