"""Short functions for manifests and openings of tests."""

import errno
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self, cast

from apps.accounts.caller import Caller
from apps.agent.events import Emit, Event, StageClosed, StageDelta
from apps.agent.stages import silent
from apps.agent.tools import Invocation, Tool, ToolResult
from apps.capabilities.registry import Capability, Contribution, Opening
from apps.capabilities.wrappers.failure_handling import ANOTHER_WAY
from apps.manifest.manifest import Manifest
from apps.workspace.port import Workspace
from apps.workspace.stored_files import FileInfo

CALLER = Caller("user-7")
OTHERWISE = f"\n\n{ANOTHER_WAY}"
"""The end of the result of a failed call, except for invalid arguments, if the manifest does not
mention failures.
"""


class Files:
    """The part of a workspace that stores files."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[bytes, str]] = {}

    @property
    def files(self) -> Self:
        return self

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        self.kept[name] = (content, content_type)
        moment = datetime(2026, 3, 24, tzinfo=UTC)
        return FileInfo(f"files/user-7/{name}", content_type, len(content), "1", moment)


class ReadOnlyFiles(Files):
    """A workspace whose folder of files is mounted read-only."""

    async def keep(self, name: str, content: bytes, content_type: str) -> FileInfo:
        raise OSError(errno.EROFS, "Read-only file system", f"/srv/files/{name}")


def manifest(*tool_sets: Mapping[str, Any], **rest: Any) -> Manifest:
    document = {
        "orchestrator": {"deployment": {"deployment_id": "some-model"}, "system_prompt": PROMPT},
        "contexts": [],
        "tool_sets": list(tool_sets),
        **rest,
    }
    return Manifest.model_validate(document)


PROMPT = {"type": "custom", "variables": {}, "content": "You help."}


def tool_set(*tools: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": "rest-api", "name": "shop", "tools": list(tools), **rest}


def tool(
    url: str,
    method: str = "get",
    properties: Mapping[str, Any] | None = None,
    required: tuple[str, ...] = (),
    **rest: Any,
) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties or {}, "required": list(required)}
    function = {"name": "look_up", "description": "Looks it up.", "parameters": parameters}
    return {
        "rest_api_method_info": {"method_url": url, "method_type": method},
        "open_ai_tool": {"function": function},
        **rest,
    }


def parameter(place: str, key: str, kind: str | None = "string", **rest: Any) -> dict[str, Any]:
    info = {"type": place, "key": key}
    if "encoding" in rest:
        info["encoding"] = rest.pop("encoding")
    return {"type": kind, "parameter_info": info, **rest}


@asynccontextmanager
async def opened(
    capability: Capability, document: Manifest, caller: Caller = CALLER, files: Files | None = None
) -> AsyncIterator[Contribution]:
    opener = capability.prepare(document)
    assert opener is not None
    async with opener(opening_for(caller, files)) as contribution:
        yield contribution


@asynccontextmanager
async def opened_together(
    document: Manifest, opening: Opening, *capabilities: Capability
) -> AsyncIterator[Contribution]:
    """Return the tools and issues of several capabilities in one run, once all of them are open."""
    async with AsyncExitStack() as stack:
        openers = filter(None, (one.prepare(document) for one in capabilities))
        found = [await stack.enter_async_context(opener(opening)) for opener in openers]
        settled = [one if one.settle is None else await one.settle() for one in found]
        yield Contribution(
            tools=tuple(tool for one in settled for tool in one.tools),
            hidden=tuple(tool for one in settled for tool in one.hidden),
            issues=tuple(issue for one in settled for issue in one.issues),
        )


def opening_for(caller: Caller = CALLER, files: Files | None = None) -> Opening:
    return Opening(cast(Workspace, files or Files()), caller, silent)


async def use(item: Tool, emit: Emit = silent, **arguments: Any) -> ToolResult:
    return await item.call(Invocation("call-1", arguments, (), emit))


def timeless(events: list[Event]) -> list[Event]:
    """Return the events without durations."""
    return [replace(e, seconds=0.0) if isinstance(e, StageClosed) else e for e in events]


def stage_text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, StageDelta))
