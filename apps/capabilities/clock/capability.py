"""Time awareness: the model knows what time it is, and when its tools said what they said."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext

from django.conf import settings

from apps.agent.tools import Invocation, ToolResult, ToolSpec
from apps.capabilities.clock.freshness import annotate, stamp_result, telling_time
from apps.capabilities.clock.timestamps import current_timestamp
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.arguments import read_arguments
from apps.capabilities.wrappers.composition import Wishes, wrapped
from apps.capabilities.wrappers.display import display_of
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters, SimpleParameter
from apps.manifest.parts import parts_in_use

TOOL_NAME = "internal_timeawareness_current_timestamp"
PARAMETERS = FunctionParameters(
    type="object",
    properties={
        "timezone": SimpleParameter(
            type="string",
            description="IANA name of a time zone, such as Europe/Paris. Without it: UTC.",
        )
    },
)
SERVES = frozenset({"features.timestamp", f"tool_sets.internal.{TOOL_NAME}"})


def prepare(manifest: Manifest) -> Open | None:
    if not any(part.name in SERVES for part in parts_in_use(manifest)):
        return None
    tool = timestamp_tool(manifest)
    is_aware = manifest.features is not None and manifest.features.timestamp is not None

    def open_clock(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        tools = (tool.bind(opening),)
        if not is_aware:
            return nullcontext(Contribution(tools))
        return nullcontext(
            Contribution(
                tools,
                history=(telling_time(TOOL_NAME, opening.caller.timezone),),
                view=(annotate,),
                results=(stamp_result,),
            )
        )

    return open_clock


def timestamp_tool(manifest: Manifest) -> PreparedTool:
    arguments = read_arguments(PARAMETERS)
    spec = ToolSpec(
        TOOL_NAME, "Tells the current date and time, in UTC or in a time zone.", arguments.schema
    )
    wishes = Wishes(
        arguments,
        display_of(manifest, "Current time", parameters=PARAMETERS),
        manifest.tool_defaults.timeout_seconds or settings.DEFAULT_TOOL_TIMEOUT_SECONDS,
    )
    return wrapped(PreparedTool(spec, tell_time), wishes)


async def tell_time(opening: Opening, invocation: Invocation) -> ToolResult:
    text = current_timestamp(invocation.arguments.get("timezone"))
    invocation.stage.write(f"> #### Result:\n\n{text}\n")
    return ToolResult(text, content_type="text/plain")


clock = Capability("clock", SERVES, prepare)
