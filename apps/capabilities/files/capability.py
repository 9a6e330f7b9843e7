"""File tools: the model works in a folder of the caller's files."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.files.desk import Desk
from apps.capabilities.files.offload import Offload, offloading, read_offload
from apps.capabilities.files.tools import KINDS, PREFIX, FileToolKind
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, shortened
from apps.errors import InitializationIssue
from apps.manifest.features import DialFiles, FileTool
from apps.manifest.manifest import Manifest


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.dial_files if manifest.features is not None else None
    if wanted is None:
        return None
    most_files, names = wanted.max_files_scanned, enabled(wanted)
    tools = [file_tool(manifest, name, most_files) for name in names]
    offload: Offload | None = None
    issues: tuple[InitializationIssue, ...] = ()
    try:
        offload = read_offload(wanted, names)
    except InitializationIssue as issue:
        issues = (issue,)

    def open_files(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        desk = Desk(opening, most_files)
        return nullcontext(
            Contribution(
                tuple(tool.bind(opening) for tool in tools),
                results=(offloading(desk, offload),) if offload is not None else (),
                issues=issues,
            )
        )

    return open_files


def enabled(wanted: DialFiles) -> list[FileTool]:
    """In one order, each once."""
    return [name for name in KINDS if wanted.enabled_tools == "all" or name in wanted.enabled_tools]


def file_tool(manifest: Manifest, name: FileTool, most_files: int) -> PreparedTool:
    kind = KINDS[name]
    arguments = read_arguments(kind.parameters)
    spec = ToolSpec(f"{PREFIX}{name}", kind.description, arguments.schema)
    wishes = Wishes(
        arguments,
        display_of(manifest, kind.title, parameters=kind.parameters),
        manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
        addresses=kind.addresses,
    )
    work = partial(use, kind, most_files)
    return wrapped(PreparedTool(spec, work, streams=kind.streams), wishes)


async def use(
    kind: FileToolKind, most_files: int, opening: Opening, invocation: Invocation
) -> ToolResult:
    """Raises `InvalidParameter`, and `ServiceFailed` when the files cannot be reached."""
    result = await kind.work(Desk(opening, most_files), invocation.arguments)
    shown = shortened(result.content, STAGE_CHARACTERS)
    invocation.stage.write(f"> #### Result:\n\n{shown}\n")
    return result


files = Capability("files", frozenset({"features.dial_files"}), prepare)
