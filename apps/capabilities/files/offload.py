"""Stores large tool results as files, which the model can search and read."""

import logging
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings

from apps.agent.messages import Attachment, ToolCall
from apps.agent.tools import ResultStep, ToolResult
from apps.capabilities.files.context import FileToolContext
from apps.capabilities.files.paths import shown_path
from apps.capabilities.files.tools import PREFIX
from apps.capabilities.wrappers.internal import field_or_setting
from apps.capabilities.wrappers.limits import WHOLE_RESULTS
from apps.errors import InitializationIssue
from apps.manifest.features.files import DialFiles
from apps.workspace.loading.loader import last_segment
from apps.workspace.stored_files import FileInfo

logger = logging.getLogger(__name__)

STATE = "offloaded_response"
NEEDED = ("read_lines", "search")
ALWAYS_EXCLUDED = frozenset(
    {f"{PREFIX}read_lines", f"{PREFIX}search", "internal_skills_read_skill"}
)
"""The results of these tools are never stored as files. The tools read such files, or return
instructions.
"""
FOLDER = "tool_results/"

_unsafe = re.compile(r"[^\w-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Offload:
    """Decides which tool results are stored as files."""

    threshold: int
    """Results of at least this many bytes of UTF-8 are stored as files."""
    excluded: frozenset[str]
    """The names of tools whose results are never stored as files."""


def read_offload(wanted: DialFiles, tools: Collection[str]) -> Offload | None:
    """Return the offloading rule, or None if offloading is disabled. Raises `InitializationIssue`
    if the application lacks the tools that read the files.
    """
    found = wanted.tool_call_result_offload
    enabled = settings.TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT
    if found is None or not field_or_setting(found, "enabled", enabled):
        return None
    missing = [name for name in NEEDED if name not in tools]
    if missing:
        raise InitializationIssue(
            "features.dial_files.tool_call_result_offload: large tool results are not stored as "
            f"files, because the model could not read the files. Add {' and '.join(missing)} to "
            "enabled_tools, or set tool_call_result_offload to null."
        )
    excluded = ALWAYS_EXCLUDED.union(
        settings.TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS, found.excluded_tools
    )
    size = settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD
    return Offload(int(field_or_setting(found, "size_threshold", size)), excluded)


def offload_step(context: FileToolContext, offload: Offload) -> ResultStep:
    whole = context.opening.findings.get_or_make(WHOLE_RESULTS, dict)

    async def step(call: ToolCall, result: ToolResult) -> ToolResult:
        text = whole.pop(call.id, result.content)
        if call.name in offload.excluded or len(text) * 4 < offload.threshold:
            return result
        content = text.encode("utf-8", "replace")
        if len(content) < offload.threshold:
            return result
        try:
            return await write_result(context, call.name, result, content)
        except Exception:
            logger.warning(
                "Failed to store the large result of %s as a file", call.name, exc_info=True
            )
            return result

    return step


async def write_result(
    context: FileToolContext, tool: str, result: ToolResult, content: bytes
) -> ToolResult:
    """Store the result's text in a file, and return a result with a notice about the file instead.
    Raises `QuickAppError` if the text cannot be stored.
    """
    info, path = await write_text(context, tool, content)
    lines = content.count(b"\n") + 1
    notice = (
        f"The result is too large to be shown here ({len(content):,} bytes, {lines:,} lines). "
        f"It is in the file {path}. Find what you need in it with {PREFIX}search, or read it in "
        f"parts with {PREFIX}read_lines (path {path!r}, lines counted from 0)."
    )
    attachment = Attachment(result.content_type, last_segment(info.path), url=info.path)
    kept = {
        "file_url": info.path,
        "original_size": len(content),
        "content_type": result.content_type,
    }
    return replace(
        result,
        content=notice,
        content_type="text/plain",
        attachments=(*result.attachments, attachment),
        state={**result.state, STATE: kept},
    )


async def write_text(context: FileToolContext, tool: str, content: bytes) -> tuple[FileInfo, str]:
    """Store a tool's result in a new file. Return the file, and its path for the model. Raises
    `QuickAppError` if it cannot be stored.
    """
    home = await context.home()
    place = f"{home}{FOLDER}{file_name(tool)}"
    info = await context.files.write(place, content, "text/plain; charset=utf-8", is_new=True)
    return info, shown_path(home, info.path)


async def keep_result(context: FileToolContext, offload: Offload, tool: str, text: str) -> str:
    """Store a result that no longer fits into the context window. Return the file's path, or "" if
    it was not stored.
    """
    if tool in offload.excluded:
        return ""
    try:
        _, path = await write_text(context, tool, text.encode("utf-8", "replace"))
    except Exception:
        logger.warning("Failed to store a result of %s as a file", tool, exc_info=True)
        return ""
    return path


def file_name(tool: str) -> str:
    stem = _unsafe.sub("_", tool)[:80] or "tool"
    return f"{stem}_{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(3)}.txt"
