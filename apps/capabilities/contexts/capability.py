"""Files of the operator: the model is told which there are, and when that changes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.contexts.announcements import (
    TOOL_NAME,
    announcement_step,
    listing,
)
from apps.capabilities.contexts.entries import available, has_files
from apps.capabilities.registry import Capability, Contribution, Open, Opening, only_after
from apps.capabilities.wrappers.internal import internal_tool, parameters, show_result
from apps.capabilities.wrappers.texts import fenced
from apps.manifest.manifest import Manifest

DESCRIPTION = (
    "Lists the files that the operator of this application made available, with their URLs. "
    "It is called for you whenever they change."
)


def prepare(manifest: Manifest) -> Open:
    spec = (TOOL_NAME, DESCRIPTION, parameters({}))
    work = partial(tell, manifest)
    tool = internal_tool(
        manifest, spec, work, "Available files", is_system=True, is_repeatable=True
    )

    @asynccontextmanager
    async def open_contexts(opening: Opening) -> AsyncIterator[Contribution]:
        found = await available(manifest, opening)
        yield Contribution(
            (tool.bind(opening),), history=(announcement_step(found),), issues=found.issues
        )

    # Without files too, a conversation that has seen a listing is told that they were removed.
    return open_contexts if has_files(manifest) else only_after(TOOL_NAME, open_contexts)


async def tell(manifest: Manifest, opening: Opening, invocation: Invocation) -> ToolResult:
    text = listing(invocation.messages, await available(manifest, opening))
    show_result(invocation, fenced(text, "json"))
    return ToolResult(text, content_type="application/json")


SERVES = frozenset({"contexts.file", "contexts.folder", f"tool_sets.internal.{TOOL_NAME}"})
contexts = Capability("contexts", SERVES, prepare)
