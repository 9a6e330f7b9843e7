"""Results of tools that are much for a model go into a file, of which it reads what it needs."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from django.conf import settings

from apps.agent.loop import ResultStep
from apps.agent.messages import Attachment, ToolCall
from apps.agent.tools import ToolResult
from apps.capabilities.files.desk import Desk
from apps.capabilities.files.paths import told
from apps.capabilities.files.tools import PREFIX
from apps.capabilities.wrappers.limits import WHOLE_RESULTS
from apps.errors import InitializationIssue
from apps.manifest.features import DialFiles, ResultOffload
from apps.workspace.loading.loader import last_segment

logger = logging.getLogger(__name__)

STATE = "offloaded_response"
NEEDED = ("read_lines", "search")
ALWAYS_EXCLUDED = frozenset(
    {f"{PREFIX}read_lines", f"{PREFIX}search", "internal_skills_read_skill"}
)
"""What reads the file back, or is there to be read as a whole."""
FOLDER = "tool_results/"

_unsafe = re.compile(r"[^\w-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Offload:
    """`threshold` is bytes of UTF-8."""

    threshold: int
    excluded: frozenset[str]


def read_offload(wanted: DialFiles, tools: Collection[str]) -> Offload | None:
    """What an application wants of it, None for nothing. Raises `InitializationIssue`."""
    found = wanted.tool_call_result_offload
    if found is None or not is_enabled(found):
        return None
    missing = [name for name in NEEDED if name not in tools]
    if missing:
        raise InitializationIssue(
            "features.dial_files.tool_call_result_offload: large results of tools stay as they "
            f"are, because the model could not read them back. Add {' and '.join(missing)} to "
            "enabled_tools, or set tool_call_result_offload to null."
        )
    configured = frozenset(settings.TOOL_CALL_RESULT_OFFLOAD__EXCLUDED_TOOLS)
    return Offload(threshold(found), ALWAYS_EXCLUDED | configured | found.excluded_tools)


def is_enabled(wanted: ResultOffload) -> bool:
    """The installation decides where the application does not say."""
    if "enabled" in wanted.model_fields_set:
        return wanted.enabled
    return bool(settings.TOOL_CALL_RESULT_OFFLOAD__ENABLED_BY_DEFAULT)


def threshold(wanted: ResultOffload) -> int:
    if "size_threshold" in wanted.model_fields_set:
        return wanted.size_threshold
    return int(settings.TOOL_CALL_RESULT_OFFLOAD__SIZE_THRESHOLD)


def offloading(desk: Desk, offload: Offload) -> ResultStep:
    whole = desk.opening.known.get_or_make(WHOLE_RESULTS, dict)

    async def step(call: ToolCall, result: ToolResult) -> ToolResult:
        text = whole.pop(call.id, result.content)
        if call.name in offload.excluded or len(text) * 4 < offload.threshold:
            return result
        content = text.encode("utf-8", "replace")
        if len(content) < offload.threshold:
            return result
        try:
            return await put_away(desk, call.name, result, content)
        except Exception:
            logger.warning(
                "The large result of %s could not be kept as a file", call.name, exc_info=True
            )
            return result

    return step


async def put_away(desk: Desk, tool: str, result: ToolResult, content: bytes) -> ToolResult:
    """The result with a notice in place of its content. Raises what the workspace raises."""
    home = await desk.home()
    place = f"{home}{FOLDER}{file_name(tool)}"
    info = await desk.files.write(place, content, "text/plain; charset=utf-8", is_new=True)
    path, lines = told(home, info.path), content.count(b"\n") + 1
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


def file_name(tool: str) -> str:
    """Of its own, for calls of one tool within one second too."""
    stem = _unsafe.sub("_", tool)[:80] or "tool"
    return f"{stem}_{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(3)}.txt"
