"""Files of the operator: the model is told which there are, and when that changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.contexts.announcements import TOOL_NAME, announcing, listing, was_told
from apps.capabilities.contexts.entries import available, has_files
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.fences import fenced
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters

PARAMETERS = FunctionParameters(type="object", properties={})
DESCRIPTION = (
    "Lists the files that the operator of this application made available, with their URLs. "
    "It is called for you whenever they change."
)
NOTHING = Contribution()


def prepare(manifest: Manifest) -> Open:
    """Where the operator took all files away, conversations that know of them are told so."""
    is_configured = has_files(manifest)
    tool = listing_tool(manifest)

    def open_contexts(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if is_configured or was_told(opening.messages):
            return open_with_files(opening)
        return nullcontext(NOTHING)

    @asynccontextmanager
    async def open_with_files(opening: Opening) -> AsyncIterator[Contribution]:
        found = await available(manifest, opening)
        yield Contribution((tool.bind(opening),), history=(announcing(found),), issues=found.issues)

    return open_contexts


def listing_tool(manifest: Manifest) -> PreparedTool:
    arguments = read_arguments(PARAMETERS)
    wishes = Wishes(
        arguments,
        display_of(manifest, "Available files", system=True),
        manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )
    spec = ToolSpec(TOOL_NAME, DESCRIPTION, arguments.schema)
    return wrapped(PreparedTool(spec, partial(tell, manifest)), wishes)


async def tell(manifest: Manifest, opening: Opening, invocation: Invocation) -> ToolResult:
    text = listing(invocation.messages, await available(manifest, opening))
    invocation.stage.write(f"> #### Result:\n\n{fenced(text, 'json')}\n")
    return ToolResult(text, content_type="application/json")


SERVES = frozenset({"contexts.file", "contexts.folder", f"tool_sets.internal.{TOOL_NAME}"})
contexts = Capability("contexts", SERVES, prepare)
