"""Defines the tool that spawns sub-agents of predefined kinds.

Each sub-agent is a separate run that the user can open and stop.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils.translation import gettext_lazy

from apps.agent.events import SubagentEnded, SubagentStarted, SubagentStatus
from apps.agent.ledger import whole_key
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, PendingResult, ToolResult
from apps.capabilities import preparation
from apps.capabilities.registry import (
    NOTHING,
    Capability,
    Contribution,
    Delegation,
    Open,
    Opening,
    PreparedCapabilities,
    PreparedTool,
)
from apps.capabilities.subagents.delegation import (
    SubagentCall,
    SubagentStopped,
    depth,
    unless_stopped,
)
from apps.capabilities.subagents.subagent_manifest import PROMPT, SubagentKind, manifest_of
from apps.capabilities.subagents.subagent_output import SubagentOutput
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    PlatformTool,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.stages import show_failure
from apps.capabilities.wrappers.value_texts import fence_code, one_line
from apps.errors import InvalidParameter, ToolError
from apps.manifest.features.agent_tools import SpawnAgent
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.agent_definition import AgentDefinition
from apps.manifest.toolsets.parameters import FunctionParameters

TOOL_NAME = "spawn-agent"
DEEPEST = 2
"""The maximum nesting depth of sub-agents. A sub-agent at this depth cannot spawn others."""
NAME_CHARACTERS = 50
MOST_SUBAGENTS = 32
"""The maximum number of prepared sub-agents that are cached."""
WAITING_SECONDS = 3600
"""A task waits up to this many seconds before it starts."""
STOPPED = "The user stopped this sub-agent. Continue without it, and do not start it again unless the user asks."
ADVICE = "The results of other sub-agents remain valid. Continue with them, or try another way."

DESCRIPTION = """\
Hands a task to a sub-agent that works on it by itself and reports back. The sub-agent knows nothing \
of this conversation, so write everything it needs into the task and the context. Tasks that do not \
need each other can be handed out at the same time, one call for each.{agents}"""
KINDS_LIST = "\n\nKinds of sub-agents, for agentDefinitionId:\n{lines}"


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.spawn_agent if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    subagents = SubagentSpawner(manifest, wanted)

    def open_spawning(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if depth() >= DEEPEST:
            return nullcontext(NOTHING)
        tool = subagents.tool(opening.predefined.agents)
        return nullcontext(Contribution((tool.bind(opening),)))

    return open_spawning


@dataclass(frozen=True, slots=True)
class SubagentAssignment:
    """A task for a sub-agent."""

    text: str
    context: str
    agent: AgentDefinition | None
    """The sub-agent's definition, or None for a copy of the application itself."""

    @property
    def name(self) -> str:
        return " ".join(self.text.split())[:NAME_CHARACTERS]

    @property
    def question(self) -> str:
        return f"{self.text}\n\nContext:\n{self.context}" if self.context else self.text


@dataclass(slots=True)
class SubagentSpawner:
    """Runs the sub-agents of one manifest."""

    manifest: Manifest
    options: SpawnAgent
    prepared: dict[str, tuple[AgentDefinition | None, Manifest, PreparedCapabilities]] = field(
        default_factory=dict
    )
    """Prepared sub-agents, cached by name."""
    cached_tool: tuple[Mapping[str, AgentDefinition], PreparedTool] | None = None
    """The tool, and the predefined sub-agents from which it was built."""

    def tool(self, agents: Mapping[str, AgentDefinition]) -> PreparedTool:
        if self.cached_tool is None or self.cached_tool[0] is not agents:
            self.cached_tool = agents, self.make_tool(self.offered(agents))
        return self.cached_tool[1]

    def offered(self, agents: Mapping[str, AgentDefinition]) -> Mapping[str, AgentDefinition]:
        if self.options.agents is None:
            return agents
        return {name: agents[name] for name in self.options.agents if name in agents}

    def make_tool(self, agents: Mapping[str, AgentDefinition]) -> PreparedTool:
        async def work(opening: Opening, invocation: Invocation) -> ToolResult:
            return await self.work(opening, invocation, agents)

        lines = "\n".join(
            f"- {one.name}: {one_line(one.description, 500)}" for one in agents.values()
        )
        description = DESCRIPTION.format(agents=KINDS_LIST.format(lines=lines) if lines else "")
        return internal_tool(
            self.manifest,
            PlatformTool(
                TOOL_NAME,
                description,
                task_parameters(tuple(agents)),
                gettext_lazy("Sub-agent:"),
                "read-only",  # The sub-agent's own steps are recorded.
            ),
            work,
            seconds=WAITING_SECONDS + settings.SUBAGENT_TIMEOUT_SECONDS,
        )

    async def work(
        self, opening: Opening, invocation: Invocation, agents: Mapping[str, AgentDefinition]
    ) -> ToolResult:
        """Run a sub-agent, and return its result. Raises `InvalidParameter` if an argument is
        invalid. Other failures are returned as results.
        """
        task = read_task(invocation.arguments, agents)
        features = self.manifest.features
        shows_stages = features is None or features.stage_display.propagate_sub_stages
        manifest, prepared = self.prepared_for(task.agent)
        subagent = RunningSubagent(
            SubagentCall(
                TOOL_NAME, self.seconds(task.agent), SubagentOutput(invocation, shows_stages)
            ),
            Delegation(manifest, prepared, task.question, counts=True),
        )
        return await subagent.run(opening, task)

    def seconds(self, agent: AgentDefinition | None) -> float:
        own = agent.timeout_seconds if agent is not None else None
        return min(own or self.options.timeout_seconds, float(settings.SUBAGENT_TIMEOUT_SECONDS))

    def prepared_for(self, agent: AgentDefinition | None) -> tuple[Manifest, PreparedCapabilities]:
        name = agent.name if agent is not None else ""
        found = self.prepared.get(name)
        if found is None or found[0] is not agent:
            while len(self.prepared) >= MOST_SUBAGENTS:
                self.prepared.pop(next(iter(self.prepared)))
            manifest = manifest_of(self.manifest, kind_of(agent, self.options))
            found = self.prepared[name] = agent, manifest, preparation.prepare(manifest)
        return found[1], found[2]


def kind_of(agent: AgentDefinition | None, wanted: SpawnAgent) -> SubagentKind:
    if agent is None:
        return SubagentKind(PROMPT, max_iterations=wanted.max_iterations)
    return SubagentKind(
        f"{agent.prompt}\n\n{PROMPT}",
        agent.toolsets,
        agent.deployment_id,
        agent.max_iterations or wanted.max_iterations,
        agent.brought,
        agent.may_spawn,
    )


@dataclass(frozen=True, slots=True)
class RunningSubagent:
    """A running sub-agent, which the page shows as a separate run."""

    call: SubagentCall
    delegation: Delegation

    @property
    def progress(self) -> Progress:
        return self.delegation.progress

    async def run(self, opening: Opening, task: SubagentAssignment) -> ToolResult:
        """Return the sub-agent's result, a result that describes its failure, or `PendingResult` if
        it is waiting for a user.
        """
        invocation = self.call.output.invocation
        key = whole_key(invocation.ledger, invocation.key)
        agent = task.agent.title if task.agent is not None else ""
        invocation.emit(SubagentStarted(key, invocation.id, task.name, agent))
        status: SubagentStatus = "stopped"
        try:
            wish = invocation.ledger.stopping(invocation.key)
            work = self.call.answer(opening, self.delegation)
            text = await unless_stopped(work, wish, STOPPED)
            if text is None:
                status = "running"
                return PendingResult()
            status = "done"
            return self.counted(text)
        except ToolError as error:
            status = "stopped" if isinstance(error, SubagentStopped) else "failed"
            return self.failed(error)
        except BaseException:
            invocation.spend(self.call.output.usage)
            raise
        finally:
            if status != "running":
                invocation.emit(self.ended(key, status))

    def counted(self, text: str, failure: ToolError | None = None) -> ToolResult:
        rounds = self.progress.counts.rounds.used
        found = self.call.output.result(text)
        return replace(found, failure=failure, rounds=rounds)

    def failed(self, error: ToolError) -> ToolResult:
        # A failure is returned, because a raised error would lose the usage and the number of model
        # calls.
        show_failure(
            self.call.output.invocation.stage,
            f"> ##### Error:\n\n{fence_code(str(error), 'text')}\n",
        )
        advice = "" if isinstance(error, SubagentStopped) else f"\n\n{ADVICE}"
        return self.counted(f"Error: {error}{advice}", error)

    def ended(self, key: str, status: SubagentStatus) -> SubagentEnded:
        usage = self.call.output.usage
        return SubagentEnded(
            key,
            status,
            self.progress.counts.rounds.used,
            self.progress.counts.tool_calls,
            sum(one.input for one in usage),
            sum(one.output for one in usage),
        )


def read_task(
    arguments: Mapping[str, object], agents: Mapping[str, AgentDefinition]
) -> SubagentAssignment:
    """Parse the arguments of a call. Raises `InvalidParameter` if the task is empty or the agent is
    unknown.
    """
    text, context, name = (
        str(arguments.get(key) or "") for key in ("task", "context", "agentDefinitionId")
    )
    if not text.strip():
        raise InvalidParameter("task", "it is empty. Describe the task.")
    if name and name not in agents:
        valid = ", ".join(agents) or "none, so leave it out"
        problem = f"unknown agent {one_line(name)!r}. Valid: {valid}."
        raise InvalidParameter("agentDefinitionId", problem)
    return SubagentAssignment(text.strip(), context.strip(), agents.get(name))


def task_parameters(names: Sequence[str]) -> FunctionParameters:
    told = "The task, with everything that the sub-agent needs to know for it."
    properties = {
        "task": text_parameter(told, display=IN_TITLE),
        "context": text_parameter("Known facts that help with the task."),
    }
    if names:
        kinds = "The kind of sub-agent. The default is one with your own abilities."
        properties["agentDefinitionId"] = text_parameter(kinds, enum=tuple(names))
    return parameters(dict(properties), "task")


spawn_agent = Capability("spawn_agent", frozenset({"features.spawn_agent"}), prepare)
