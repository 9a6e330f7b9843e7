"""Files of the operator: the model is told which there are, and when that changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.contexts.announcements import (
    TOOL_NAME,
    announcement_step,
    is_announced,
    listing,
)
from apps.capabilities.contexts.entries import available, has_files
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.fences import fenced
from apps.capabilities.wrappers.internal import internal_tool, parameters, show_result
from apps.manifest.manifest import Manifest

DESCRIPTION = (
    "Lists the files that the operator of this application made available, with their URLs. "
    "It is called for you whenever they change."
)
NOTHING = Contribution()


def prepare(manifest: Manifest) -> Open:
    # Also without files: a conversation that has seen a listing is told that they were removed.
    is_configured = has_files(manifest)
    spec = (TOOL_NAME, DESCRIPTION, parameters({}))
    work = partial(tell, manifest)
    tool = internal_tool(manifest, spec, work, "Available files", is_system=True)

    def open_contexts(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if is_configured or is_announced(opening.messages):
            return open_with_files(opening)
        return nullcontext(NOTHING)

    @asynccontextmanager
    async def open_with_files(opening: Opening) -> AsyncIterator[Contribution]:
        found = await available(manifest, opening)
        yield Contribution(
            (tool.bind(opening),), history=(announcement_step(found),), issues=found.issues
        )

    return open_contexts


async def tell(manifest: Manifest, opening: Opening, invocation: Invocation) -> ToolResult:
    text = listing(invocation.messages, await available(manifest, opening))
    show_result(invocation, fenced(text, "json"))
    return ToolResult(text, content_type="application/json")


SERVES = frozenset({"contexts.file", "contexts.folder", f"tool_sets.internal.{TOOL_NAME}"})
contexts = Capability("contexts", SERVES, prepare)
