"""Defines capabilities and the tools that they prepare. A capability is a feature that is prepared
once per application version and opened for each run.

A capability reads the manifest when it is prepared. Opening it must be fast, because every run waits
for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import InteractionKind, Ledger
from apps.agent.loop_options import ViewStep
from apps.agent.messages import ModelMessage
from apps.agent.meter import NO_METER, Meter
from apps.agent.progress import Progress
from apps.agent.recovery import Recovery
from apps.agent.stages import Announcement
from apps.agent.taint import Taint
from apps.agent.tools import (
    Invocation,
    ResultStep,
    Spend,
    Tool,
    Toolbox,
    ToolResult,
    ToolSpec,
    ignore_usage,
)
from apps.capabilities.chat_context import NO_CHAT, ChatContext
from apps.errors import InitializationIssue, Unsupported
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.agent_definition import AgentDefinition
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.markdown.skill_document import InstalledSkill
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.shared_loads import Loading
from apps.workspace.port import Workspace

T = TypeVar("T")

HistoryStep = Callable[[Sequence[ModelMessage]], Awaitable[Sequence[ModelMessage]]]
"""A function that rewrites the messages once per run. The result is stored."""

Tidy = Callable[[Sequence[ModelMessage]], Sequence[ModelMessage]]
"""A function that removes the messages that the next request does not need."""

Arrange = Callable[[Toolbox], Iterable[InitializationIssue] | None]
"""A function that changes which tools the model can call, once all capabilities are open. It may
return issues.
"""


class CompletedAnswer(msgspec.Struct, frozen=True):
    """A conversation with its new answer, and the number of model calls and tool calls for it."""

    messages: Sequence[ModelMessage]
    iterations: int
    tool_calls: int


Completion = Callable[[CompletedAnswer], Awaitable[None]]
"""A function that receives the completed answer before the capabilities are closed."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """A nested run of another manifest for the same caller, with `question` as its only message."""

    manifest: Manifest
    prepared: PreparedCapabilities
    question: str
    progress: Progress = field(default_factory=Progress)
    counts: bool = False
    """True if the nested run's model calls count toward the outer run's limit."""


Delegate = Callable[[Delegation, Emit, Ledger], Coroutine[Any, Any, str | None]]
"""A function that runs a delegation and emits its events.

The function returns the final text, which may be "", or None if the nested run is waiting for a
user. Raises `QuickAppError` if the nested run fails.
"""


async def refuse_delegation(delegation: Delegation, emit: Emit, ledger: Ledger) -> str:
    """Raise `Unsupported`. Runs that cannot delegate use this function as their `Delegate`."""
    raise Unsupported("Sub-agents are not available in this run.")


class Key(Generic[T]):
    """A typed key for a value in `SharedFindings`, defined by the module that stores the value."""

    def __init__(self, name: str) -> None:
        self.name = name


class SharedFindings:
    """Stores values that capabilities share within one run."""

    def __init__(self) -> None:
        self.values: dict[Key[Any], Any] = {}

    def __contains__(self, key: Key[Any]) -> bool:
        return key in self.values

    def __getitem__(self, key: Key[T]) -> T:
        found: T = self.values[key]
        return found

    def __setitem__(self, key: Key[T], value: T) -> None:
        self.values[key] = value

    def get(self, key: Key[T]) -> T | None:
        found: T | None = self.values.get(key)
        return found

    def get_or_make(self, key: Key[T], make: Callable[[], T]) -> T:
        if key not in self:
            self[key] = make()
        return self[key]

    async def get_or_ask(self, key: Key[T], ask: Callable[[], Awaitable[T]]) -> T:
        if key not in self:
            self[key] = await ask()
        return self[key]


@dataclass(frozen=True, slots=True)
class ContinuedConversation:
    """The conversation that a run continues."""

    messages: Sequence[ModelMessage] = ()
    """The messages as received, including tool calls of earlier answers."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """The state that the previous answer stored."""
    saved: dict[str, Any] = field(default_factory=dict)
    """The state that this answer stores. The next request contains this state. Capabilities use
    separate keys.
    """


@dataclass(frozen=True, slots=True)
class PredefinedContent:
    """The predefined content of this installation."""

    skills: tuple[InstalledSkill, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict, repr=False)
    places: Mapping[str, ChatPlace] = field(default_factory=dict, repr=False)
    """The pages of the surrounding product on which users can chat, by slug."""
    agents: Mapping[str, AgentDefinition] = field(default_factory=dict, repr=False)


class Opening(msgspec.Struct, frozen=True):
    """The context in which a capability is opened: the caller, the conversation and the run's
    resources.
    """

    workspace: Workspace
    caller: Caller
    emit: Emit
    conversation: ContinuedConversation = msgspec.field(default_factory=ContinuedConversation)
    demanded: str = ""
    """The tool that the model must call first because the client requires it, or ""."""
    findings: SharedFindings = msgspec.field(default_factory=SharedFindings)
    application: str = ""
    loading: Loading = msgspec.field(default_factory=Loading)
    can_ask: Set[InteractionKind] = frozenset()
    """The kinds of questions that tool calls can ask the user."""
    spend: Spend = ignore_usage
    """A function that records the usage of calls other than the application's own model calls."""
    delegate: Delegate = refuse_delegation
    predefined: PredefinedContent = PredefinedContent()
    chat: ChatContext = NO_CHAT
    taint: Taint = msgspec.field(default_factory=Taint)
    """The untrusted sources that the conversation has read."""
    meter: Meter = NO_METER
    """Receives reports about calls to models and tools."""

    def has_called(self, tool: str) -> bool:
        return any(call.name == tool for m in self.conversation.messages for call in m.tool_calls)

    @property
    def loader(self) -> Loader:
        """Return a file loader. All file loaders of a run share a cache."""
        return Loader(self.workspace.files, self.loading, self.taint)


Work = Callable[[Opening, Invocation], Coroutine[Any, Any, ToolResult]]
"""A function that runs a tool call. Unlike `CallTool`, it receives the context of the run."""

Announce = Callable[[str], Announcement | None]


def announce_nothing(locale: str) -> Announcement | None:
    return None


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool that is prepared for a manifest and not yet bound to a run.

    `is_private`, `is_read_only` and `full_name` have the same meanings as in `Tool`.
    """

    spec: ToolSpec
    work: Work
    toolset: str = ""
    """The path of the tool's toolset in the manifest, or ""."""
    streams: str = ""
    """The argument that the stage shows while the model is writing it, or ""."""
    announce: Announce = announce_nothing
    """A function that takes a locale and returns what the stage shows before the arguments are
    complete.
    """
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are added to every call without the model seeing them."""
    is_repeatable: bool = False
    """True if calling the tool twice has the same effect as calling it once."""
    is_private: bool = False
    is_read_only: bool = False
    full_name: str = ""

    def bind(self, opening: Opening) -> Tool:
        announcement = self.announce(opening.caller.client.locale)
        work = partial(self.work, opening)
        return Tool(
            self.spec,
            work,
            self.toolset,
            announcement,
            self.constants,
            self.is_repeatable,
            self.is_private,
            self.is_read_only,
            self.full_name,
        )


Compose = Callable[[Toolbox], str]
"""A function that returns part of the system prompt, or "", once all tools are known."""

Settle = Callable[[], Awaitable["Contribution"]]
"""A function that returns the final contribution once all capabilities are open, so that the user
is asked only once.
"""


class Contribution(msgspec.Struct, frozen=True):
    """The tools, prompts and steps that a capability adds to one run.

    Steps run in the order of `settings.CAPABILITIES`. Only QuickApps itself can call `hidden`
    tools. If a model call fails, the first of the `recoveries` that rewrites the conversation
    triggers a retry, at most once per run. `tidying` applies only to finished answers.
    """

    tools: tuple[Tool, ...] = ()
    hidden: tuple[Tool, ...] = ()
    instructions: tuple[str, ...] = ()
    composed: tuple[Compose, ...] = ()
    history: tuple[HistoryStep, ...] = ()
    view: tuple[ViewStep, ...] = ()
    results: tuple[ResultStep, ...] = ()
    recoveries: tuple[Recovery, ...] = ()
    tidying: tuple[Tidy, ...] = ()
    completions: tuple[Completion, ...] = ()
    issues: tuple[InitializationIssue, ...] = ()
    arrange: tuple[Arrange, ...] = ()
    settle: Settle | None = None


Open = Callable[[Opening], AbstractAsyncContextManager[Contribution]]
"""A function that opens a capability for a run. If it raises `InitializationIssue`, the run
continues without the capability.
"""


NOTHING = Contribution()


def only_after(tool: str, opener: Open) -> Open:
    """Return an `Open` function that contributes only to conversations with a call to this tool."""
    return lambda opening: opener(opening) if opening.has_called(tool) else nullcontext(NOTHING)


@dataclass(frozen=True, slots=True)
class Capability:
    """A feature that `settings.CAPABILITIES` can list."""

    name: str
    serves: frozenset[str]
    """The names of supported manifest parts, as defined in `apps.manifest.parts`."""
    prepare: Callable[[Manifest], Open | None]
    """A function that prepares the capability for a manifest, or returns None if the manifest does
    not use it.
    """


@dataclass(frozen=True, slots=True)
class PreparedCapabilities:
    """The capabilities that a manifest uses, and issues about unusable parts of the manifest."""

    openers: tuple[tuple[str, Open], ...]
    issues: tuple[InitializationIssue, ...]
