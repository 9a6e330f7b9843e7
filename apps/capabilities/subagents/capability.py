"""Sub-agents: the model hands a task to a helper, which works on it with some of the tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings

from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities import registry
from apps.capabilities.registry import Capability, Delegation, Open, Opening, Prepared
from apps.capabilities.subagents.delegation import HelperCall
from apps.capabilities.subagents.helper_manifest import descriptions, helper_manifest
from apps.capabilities.subagents.relay import Relay
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    open_with,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.texts import one_line
from apps.errors import InvalidParameter
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import ArrayParameter, FunctionParameters, SimpleSchema
from apps.manifest.subagents import Subagents

TOOL_NAME = "task"
WAITING_SECONDS = 3600
"""The longest wait for a turn."""
MOST_HELPERS = 32
"""Prepared helpers that are cached."""
DESCRIPTION_CHARACTERS = 300

DESCRIPTION = """\
Hands a task to a helper that works on it by itself and reports back. The helper knows nothing of \
this conversation, so write everything it needs into the prompt: what is to be done, what is known \
already, and what the report is to contain. Give it only the toolsets that the task needs. Tasks \
that do not need each other can be handed out at the same time. Toolsets:
{toolsets}"""


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.subagents if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    return open_with(make_tool(manifest, Helpers(manifest, wanted)))


@dataclass(frozen=True, slots=True)
class Helpers:
    """The helpers of an application, prepared once for each selection of toolsets."""

    manifest: Manifest
    wanted: Subagents
    known: dict[frozenset[str], tuple[Manifest, Prepared]] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        limit = float(settings.SUBAGENT_TIMEOUT_SECONDS)
        return min(self.wanted.timeout_seconds or limit, limit)

    def prepared_with(self, toolsets: frozenset[str]) -> tuple[Manifest, Prepared]:
        if toolsets not in self.known:
            while len(self.known) >= MOST_HELPERS:
                self.known.pop(next(iter(self.known)))
            manifest = helper_manifest(self.manifest, self.wanted, toolsets)
            self.known[toolsets] = manifest, registry.prepare(manifest)
        return self.known[toolsets]

    async def work(self, opening: Opening, invocation: Invocation) -> ToolResult:
        """Raises `ToolError`, `ToolTimedOut`, `InvalidParameter`."""
        question, toolsets = read_task(invocation.arguments, descriptions(self.manifest))
        features = self.manifest.features
        shows_stages = features is None or features.stage_display.propagate_sub_stages
        relay = Relay(invocation, shows_stages)
        manifest, prepared = self.prepared_with(toolsets)
        call = HelperCall(TOOL_NAME, self.seconds, relay)
        try:
            text = await call.answer(opening, Delegation(manifest, prepared, question))
        except BaseException:
            invocation.spend(relay.usage)
            raise
        if text is None:
            return Pending()
        return relay.result(text)


def read_task(
    arguments: Mapping[str, object], there: Mapping[str, str]
) -> tuple[str, frozenset[str]]:
    """The prompt and the names of toolsets. Raises `InvalidParameter`."""
    question, toolsets = arguments["prompt"], arguments["tool_sets"]
    assert isinstance(question, str) and isinstance(toolsets, list)  # noqa: PT018, S101 - checked
    if not question.strip():
        raise InvalidParameter("prompt", "it says nothing. Describe the task.")
    if unknown := [name for name in toolsets if name not in there]:
        valid = ", ".join(there) or "none, so it is an empty list"
        problem = f"there is no toolset {one_line(str(unknown[0]))!r}. Valid are: {valid}."
        raise InvalidParameter("tool_sets", problem)
    return question, frozenset(toolsets)


def make_tool(manifest: Manifest, helpers: Helpers) -> PreparedTool:
    toolsets = descriptions(manifest)
    lines = []
    for name, description in toolsets.items():
        text = one_line(description, DESCRIPTION_CHARACTERS)
        lines.append(f"- {name}{f': {text}' if text else ''}")
    description = DESCRIPTION.format(toolsets="\n".join(lines) or "- (none)")
    return internal_tool(
        manifest,
        (TOOL_NAME, description, task_parameters(toolsets)),
        helpers.work,
        "Task:",
        seconds=WAITING_SECONDS + helpers.seconds,
        is_repeatable=True,  # its steps are recorded
    )


def task_parameters(toolsets: Mapping[str, str]) -> FunctionParameters:
    chosen = ArrayParameter(
        type="array",
        items=SimpleSchema(type="string", enum=tuple(toolsets) or None),
        description="The toolsets that the helper may use; an empty list for none.",
    )
    told = "The task, with everything that the helper has to know."
    prompt = text_parameter(told, display=IN_TITLE)
    return parameters({"prompt": prompt, "tool_sets": chosen}, "prompt", "tool_sets")


subagents = Capability("subagents", frozenset({"features.subagents"}), prepare)
