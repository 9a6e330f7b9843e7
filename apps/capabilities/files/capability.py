"""Defines the file tools, which the model uses to read and change the caller's files."""

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from apps.agent.context.fitter import KeepResult
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.files.context import FileToolContext
from apps.capabilities.files.offload import Offload, keep_result, offload_step, read_offload
from apps.capabilities.files.tools import KINDS, PREFIX, READING, FileToolKind
from apps.capabilities.registry import Capability, Contribution, Open, Opening, PreparedTool
from apps.capabilities.wrappers.internal import PlatformTool, internal_tool, show_result
from apps.capabilities.wrappers.limits import KEEP_RESULT
from apps.capabilities.wrappers.value_texts import STAGE_CHARACTERS, shorten_text
from apps.errors import InitializationIssue
from apps.manifest.features.files import FileTool
from apps.manifest.manifest import Manifest


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.dial_files if manifest.features is not None else None
    if wanted is None:
        return None
    most_files, chosen = wanted.max_files_scanned, wanted.enabled_tools
    names = [name for name in KINDS if chosen == "all" or name in chosen]
    tools = [file_tool(manifest, name, most_files) for name in names]
    offload: Offload | None = None
    issues: tuple[InitializationIssue, ...] = ()
    try:
        offload = read_offload(wanted, names)
    except InitializationIssue as issue:
        issues = (issue,)

    def open_files(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        context = FileToolContext(opening, most_files)
        if offload is not None:
            keep: KeepResult = partial(keep_result, context, offload)
            opening.findings[KEEP_RESULT] = keep
        return nullcontext(
            Contribution(
                tuple(tool.bind(opening) for tool in tools),
                results=(offload_step(context, offload),) if offload is not None else (),
                issues=issues,
            )
        )

    return open_files


def file_tool(manifest: Manifest, name: FileTool, most_files: int) -> PreparedTool:
    kind = KINDS[name]
    return internal_tool(
        manifest,
        PlatformTool(
            f"{PREFIX}{name}",
            kind.description,
            kind.parameters,
            kind.title,
            "read-only" if name in READING else "changes",
            addresses=kind.addresses,
            streams=kind.streams,
        ),
        partial(run_file_tool, kind, most_files),
    )


async def run_file_tool(
    kind: FileToolKind, most_files: int, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Run a file tool. Raises `InvalidParameter` for an invalid argument, and `ServiceFailed` if
    the file storage is unavailable.
    """
    result = await kind.work(FileToolContext(opening, most_files), invocation.arguments)
    show_result(invocation, shorten_text(result.content, STAGE_CHARACTERS))
    return result


files = Capability("files", frozenset({"features.dial_files"}), prepare)
