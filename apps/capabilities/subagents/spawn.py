"""Helpers of predefined kinds, each a run of its own that the person can open and stop."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace

from django.conf import settings

from apps.agent.events import HelperBegan, HelperEnded, HelperStatus
from apps.agent.ledger import whole_key
from apps.agent.progress import Progress
from apps.agent.tools import Invocation, Pending, ToolResult
from apps.capabilities import registry
from apps.capabilities.registry import (
    NOTHING,
    Capability,
    Contribution,
    Delegation,
    Open,
    Opening,
    Prepared,
)
from apps.capabilities.subagents.delegation import HelperCall
from apps.capabilities.subagents.helper_manifest import PROMPT, HelperKind, manifest_of
from apps.capabilities.subagents.interruption import HelperStopped, unless_stopped
from apps.capabilities.subagents.relay import Relay
from apps.capabilities.subagents.turns import depth
from apps.capabilities.wrappers.internal import (
    IN_TITLE,
    internal_tool,
    parameters,
    text_parameter,
)
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.capabilities.wrappers.stages import show_failure
from apps.capabilities.wrappers.texts import fenced, one_line
from apps.errors import InvalidParameter, ToolError
from apps.manifest.agent_definition import AgentDefinition
from apps.manifest.agent_tools import SpawnAgent
from apps.manifest.manifest import Manifest
from apps.manifest.parameters import FunctionParameters

TOOL_NAME = "spawn-agent"
DEEPEST = 2
"""A helper of a helper has none."""
NAME_CHARACTERS = 50
MOST_HELPERS = 32
"""Prepared kinds that are cached."""
WAITING_SECONDS = 3600
"""The longest wait for a turn."""
STOPPED = (
    "The person stopped this helper. Go on without it, and do not begin it again unless they ask."
)
ADVICE = "The results of other helpers stand. Go on with them, or try another way."

DESCRIPTION = """\
Hands a task to a helper that works on it by itself and reports back. The helper knows nothing of \
this conversation, so write everything it needs into the task and the context. Tasks that do not \
need each other can be handed out at the same time, one call for each.{agents}"""
TOLD = "\n\nKinds of helpers, for agentDefinitionId:\n{lines}"


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.spawn_agent if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    helpers = Spawning(manifest, wanted)

    def open_spawning(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        if depth() >= DEEPEST:
            return nullcontext(NOTHING)
        tool = helpers.tool(opening.agents)
        return nullcontext(Contribution((tool.bind(opening),)))

    return open_spawning


@dataclass(frozen=True, slots=True)
class Task:
    """What the model asks for; `agent` is None for the application itself."""

    text: str
    context: str
    agent: AgentDefinition | None

    @property
    def name(self) -> str:
        return " ".join(self.text.split())[:NAME_CHARACTERS]

    @property
    def question(self) -> str:
        return f"{self.text}\n\nContext:\n{self.context}" if self.context else self.text


@dataclass(slots=True)
class Spawning:
    """The helpers of one manifest; what depends on predefined content is made when that changes."""

    manifest: Manifest
    wanted: SpawnAgent
    known: dict[str, tuple[AgentDefinition | None, Manifest, Prepared]] = field(
        default_factory=dict
    )
    made: tuple[Mapping[str, AgentDefinition], PreparedTool] | None = None

    def tool(self, agents: Mapping[str, AgentDefinition]) -> PreparedTool:
        if self.made is None or self.made[0] is not agents:
            self.made = agents, self.make_tool(self.offered(agents))
        return self.made[1]

    def offered(self, agents: Mapping[str, AgentDefinition]) -> Mapping[str, AgentDefinition]:
        if self.wanted.agents is None:
            return agents
        return {name: agents[name] for name in self.wanted.agents if name in agents}

    def make_tool(self, agents: Mapping[str, AgentDefinition]) -> PreparedTool:
        async def work(opening: Opening, invocation: Invocation) -> ToolResult:
            return await self.work(opening, invocation, agents)

        lines = "\n".join(
            f"- {one.name}: {one_line(one.description, 500)}" for one in agents.values()
        )
        description = DESCRIPTION.format(agents=TOLD.format(lines=lines) if lines else "")
        return internal_tool(
            self.manifest,
            (TOOL_NAME, description, task_parameters(tuple(agents))),
            work,
            "Helper:",
            seconds=WAITING_SECONDS + settings.SUBAGENT_TIMEOUT_SECONDS,
            is_repeatable=True,  # its steps are recorded
        )

    async def work(
        self, opening: Opening, invocation: Invocation, agents: Mapping[str, AgentDefinition]
    ) -> ToolResult:
        """Raises `InvalidParameter`. Other failures are in the result, with what they cost."""
        task = read_task(invocation.arguments, agents)
        features = self.manifest.features
        shows_stages = features is None or features.stage_display.propagate_sub_stages
        manifest, prepared = self.prepared_for(task.agent)
        helper = Helper(
            HelperCall(TOOL_NAME, self.seconds(task.agent), Relay(invocation, shows_stages)),
            Delegation(manifest, prepared, task.question, counts=True),
        )
        return await helper.run(opening, task)

    def seconds(self, agent: AgentDefinition | None) -> float:
        own = agent.timeout_seconds if agent is not None else None
        return min(own or self.wanted.timeout_seconds, float(settings.SUBAGENT_TIMEOUT_SECONDS))

    def prepared_for(self, agent: AgentDefinition | None) -> tuple[Manifest, Prepared]:
        name = agent.name if agent is not None else ""
        found = self.known.get(name)
        if found is None or found[0] is not agent:
            while len(self.known) >= MOST_HELPERS:
                self.known.pop(next(iter(self.known)))
            manifest = manifest_of(self.manifest, kind_of(agent, self.wanted))
            found = self.known[name] = agent, manifest, registry.prepare(manifest)
        return found[1], found[2]


def kind_of(agent: AgentDefinition | None, wanted: SpawnAgent) -> HelperKind:
    if agent is None:
        return HelperKind(PROMPT, max_iterations=wanted.max_iterations)
    return HelperKind(
        f"{agent.prompt}\n\n{PROMPT}",
        agent.toolsets,
        agent.deployment_id,
        agent.max_iterations or wanted.max_iterations,
        agent.brought,
        agent.may_spawn,
    )


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper at work, and the events by which it is a run of its own."""

    call: HelperCall
    delegation: Delegation

    @property
    def progress(self) -> Progress:
        return self.delegation.progress

    async def run(self, opening: Opening, task: Task) -> ToolResult:
        """The helper's result, or the failure as one; `Pending` while it waits for a person."""
        invocation = self.call.relay.invocation
        key = whole_key(invocation.ledger, invocation.key)
        agent = task.agent.title if task.agent is not None else ""
        invocation.emit(HelperBegan(key, invocation.id, task.name, agent))
        status: HelperStatus = "stopped"
        try:
            wish = invocation.ledger.stopping(invocation.key)
            work = self.call.answer(opening, self.delegation)
            text = await unless_stopped(work, wish, STOPPED)
            if text is None:
                status = "running"
                return Pending()
            status = "done"
            return self.counted(text)
        except ToolError as error:
            status = "stopped" if isinstance(error, HelperStopped) else "failed"
            return self.failed(error)
        except BaseException:
            invocation.spend(self.call.relay.usage)
            raise
        finally:
            if status != "running":
                invocation.emit(self.ended(key, status))

    def counted(self, text: str, failure: ToolError | None = None) -> ToolResult:
        rounds = self.progress.rounds.used
        found = self.call.relay.result(text)
        return replace(found, failure=failure, rounds=rounds)

    def failed(self, error: ToolError) -> ToolResult:
        # Returned, not raised: the tokens and the calls of the model that it took are in it.
        show_failure(
            self.call.relay.invocation.stage, f"> ##### Error:\n\n{fenced(str(error), 'text')}\n"
        )
        advice = "" if isinstance(error, HelperStopped) else f"\n\n{ADVICE}"
        return self.counted(f"Error: {error}{advice}", error)

    def ended(self, key: str, status: HelperStatus) -> HelperEnded:
        usage = self.call.relay.usage
        return HelperEnded(
            key,
            status,
            self.progress.rounds.used,
            self.progress.tool_calls,
            sum(one.input for one in usage),
            sum(one.output for one in usage),
        )


def read_task(arguments: Mapping[str, object], agents: Mapping[str, AgentDefinition]) -> Task:
    """Raises `InvalidParameter`."""
    text, context, name = (
        str(arguments.get(key) or "") for key in ("task", "context", "agentDefinitionId")
    )
    if not text.strip():
        raise InvalidParameter("task", "it says nothing. Describe the task.")
    if name and name not in agents:
        valid = ", ".join(agents) or "none, so leave it out"
        problem = f"there is no agent {one_line(name)!r}. Valid are: {valid}."
        raise InvalidParameter("agentDefinitionId", problem)
    return Task(text.strip(), context.strip(), agents.get(name))


def task_parameters(names: Sequence[str]) -> FunctionParameters:
    told = "The task, with everything that the helper has to know to work on it."
    properties = {
        "task": text_parameter(told, display=IN_TITLE),
        "context": text_parameter("What is known already and helps with the task."),
    }
    if names:
        kinds = "The kind of helper. Without it: one that can do what you can."
        properties["agentDefinitionId"] = text_parameter(kinds, enum=tuple(names))
    return parameters(dict(properties), "task")


spawn_agent = Capability("spawn_agent", frozenset({"features.spawn_agent"}), prepare)
