"""Time awareness: the model knows what time it is, and when its tools said what they said."""

from contextlib import AbstractAsyncContextManager, nullcontext

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.clock.timestamps import annotate, current_timestamp, stamp_result, time_step
from apps.capabilities.registry import Capability, Contribution, Open, Opening
from apps.capabilities.wrappers.internal import (
    internal_tool,
    open_with,
    parameters,
    plain_result,
    text_parameter,
)
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use

TOOL_NAME = "internal_timeawareness_current_timestamp"
DESCRIPTION = "Tells the current date and time, in UTC or in a time zone."
PARAMETERS = parameters(
    {"timezone": text_parameter("IANA name of a time zone, such as Europe/Paris. Without it: UTC.")}
)
SERVES = frozenset({"features.timestamp", f"tool_sets.internal.{TOOL_NAME}"})


def prepare(manifest: Manifest) -> Open | None:
    if not any(part.name in SERVES for part in parts_in_use(manifest)):
        return None
    spec = (TOOL_NAME, DESCRIPTION, PARAMETERS)
    tool = internal_tool(manifest, spec, tell_time, "Current time", is_repeatable=True)
    if manifest.features is None or manifest.features.timestamp is None:
        return open_with(tool)

    def open_clock(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        return nullcontext(
            Contribution(
                (tool.bind(opening),),
                history=(time_step(TOOL_NAME, opening.caller.timezone),),
                view=(annotate,),
                results=(stamp_result,),
            )
        )

    return open_clock


async def tell_time(opening: Opening, invocation: Invocation) -> ToolResult:
    return plain_result(invocation, current_timestamp(invocation.arguments.get("timezone")))


clock = Capability("clock", SERVES, prepare)
