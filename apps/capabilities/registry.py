"""What a run can do: how a capability is declared, prepared once, and opened for each run.

`settings.CAPABILITIES` lists capabilities by dotted path, in order, as `MIDDLEWARE` lists
middleware. Preparing reads the manifest and happens once for each version of an application;
opening happens for each run and must be cheap.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import InteractionKind, Ledger
from apps.agent.loop import ViewStep
from apps.agent.messages import Message
from apps.agent.meter import NO_METER, Meter
from apps.agent.progress import Progress
from apps.agent.recovery import Recovery
from apps.agent.taint import Taint
from apps.agent.tools import ResultStep, Spend, Tool, Toolbox, ignore_usage
from apps.capabilities.found_conversations import SearchConversations
from apps.errors import InitializationIssue, Unsupported
from apps.manifest.agent_definition import AgentDefinition
from apps.manifest.chat_place import ChatPlace
from apps.manifest.manifest import Manifest
from apps.manifest.parts import parts_in_use
from apps.manifest.skill_document import InstalledSkill
from apps.workspace.loading.loader import Loader
from apps.workspace.loading.shared_loads import Loading
from apps.workspace.port import Workspace

if TYPE_CHECKING:  # programs of ours use capabilities without the models of Django
    from apps.schedules.desk import Desk

T = TypeVar("T")

HistoryStep = Callable[[Sequence[Message]], Awaitable[Sequence[Message]]]
"""Messages → messages, once for each run, and kept."""

Tidy = Callable[[Sequence[Message]], Sequence[Message]]
"""The conversation without what a finished answer need not bring back."""

Arrange = Callable[[Toolbox], Iterable[InitializationIssue] | None]
"""Decides which of all the tools of a run are listed, once every capability is open.

It may tell what it misses.
"""


class Completed(msgspec.Struct, frozen=True):
    """A conversation that was answered, and how often models and tools were called for that."""

    messages: Sequence[Message]
    iterations: int
    tool_calls: int


Completion = Callable[[Completed], Awaitable[None]]
"""What is done once there is an answer, while everything is still open."""


@dataclass(frozen=True, slots=True)
class Delegation:
    """Another run for the same caller, of another manifest: it knows the question and nothing else.

    Its `progress` is new. If it `counts`, the calls of its models count for the run around it.
    """

    manifest: Manifest
    prepared: Prepared
    question: str
    progress: Progress = field(default_factory=Progress)
    counts: bool = False


Delegate = Callable[[Delegation, Emit, Ledger], Coroutine[Any, Any, str | None]]
"""Lets a delegation run.

It emits what any run does, and returns the text that it ends with, "" for none; None if it waits
for an answer of a person. Raises `QuickAppError`.
"""


async def nobody(delegation: Delegation, emit: Emit, ledger: Ledger) -> str:
    """Raises `Unsupported`."""
    raise Unsupported("There is no run here that could hand a task to another one.")


class Key(Generic[T]):
    """A value in `Known` and its type: a constant of the module that the value belongs to."""

    def __init__(self, name: str) -> None:
        self.name = name


class Known:
    """What one capability found out, so that others need not ask for it again in this run."""

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


class Opening(msgspec.Struct, frozen=True):
    """What a capability may use while it is open: one run of one caller."""

    workspace: Workspace
    caller: Caller
    emit: Emit
    state: Mapping[str, Any] = {}
    """The newest state that the conversation brought back."""
    saved: dict[str, Any] = {}
    """What the next request is to bring back, by key: a capability writes its own keys here."""
    demanded: str = ""
    """The tool that the client wants to be called first, "" for none."""
    known: Known = msgspec.field(default_factory=Known)
    application: str = ""
    """The slug of the application that answers, "" where none is named."""
    loading: Loading = msgspec.field(default_factory=Loading)
    can_ask: Set[InteractionKind] = frozenset()
    """What calls can ask the person."""
    spend: Spend = ignore_usage
    """Takes what was spent beside the calls of the model."""
    delegate: Delegate = nobody
    messages: Sequence[Message] = ()
    """The conversation as it was given, with the tool calls of earlier answers."""
    skills: tuple[InstalledSkill, ...] = ()
    """Those that every application of this installation is offered."""
    search_conversations: SearchConversations | None = None
    """None where the caller has no account on the page."""
    schedules: Desk | None = None
    """None where nothing can be scheduled: for callers without an account, outside of conversations that
    are kept, and for helpers."""
    prompts: Mapping[str, str] = {}
    """The predefined prompts of this installation, by name."""
    places: Mapping[str, ChatPlace] = {}
    """The places of this installation, by slug."""
    agents: Mapping[str, AgentDefinition] = {}
    """The predefined agents of this installation, by name."""
    taint: Taint = msgspec.field(default_factory=Taint)
    """What the conversation has read that is not to be trusted."""
    meter: Meter = NO_METER
    """Hears of calls of models and tools."""

    def has_called(self, tool: str) -> bool:
        """Whether the conversation has a call of that tool."""
        return any(call.name == tool for m in self.messages for call in m.tool_calls)

    @property
    def loader(self) -> Loader:
        """Files by their address, each loaded once in a run."""
        return Loader(self.workspace.files, self.loading, self.taint)


Compose = Callable[[Toolbox], str]
"""Makes a text for the system prompt once all tools are known; "" for none."""

Settle = Callable[[], Awaitable["Contribution"]]
"""What a capability brings instead, asked once every capability is open: the place for a question
to a person that several capabilities ask as one."""


class Contribution(msgspec.Struct, frozen=True):
    """What a capability brings to one run. Steps run in the order of `settings.CAPABILITIES`.

    `hidden` are tools that the platform calls and the model may not. `recoveries` are asked when
    a model fails: the first that rewrites the conversation gets it one more try, once in a run.
    `tidying` is for answers that ended by themselves; one that broke off keeps everything.
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
"""Raises `InitializationIssue`; the run then goes on without the capability."""


NOTHING = Contribution()


def only_after(tool: str, opener: Open) -> Open:
    """Opens nothing, unless the tool was called earlier in the conversation."""
    return lambda opening: opener(opening) if opening.has_called(tool) else nullcontext(NOTHING)


@dataclass(frozen=True, slots=True)
class Capability:
    """`serves` are the parts of a manifest that it knows, as `apps.manifest.parts` names them.

    `prepare` returns None when the manifest asks nothing of it.
    """

    name: str
    serves: frozenset[str]
    prepare: Callable[[Manifest], Open | None]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The capabilities of one manifest, and what it asks for that nobody serves."""

    openers: tuple[tuple[str, Open], ...]
    issues: tuple[InitializationIssue, ...]


@cache
def capabilities() -> tuple[Capability, ...]:
    """The configured capabilities. Raises `ImproperlyConfigured` for an entry that is none."""
    found = []
    for path in settings.CAPABILITIES:
        capability = import_string(path)
        if not isinstance(capability, Capability):
            raise ImproperlyConfigured(
                f"CAPABILITIES names {path!r}, which is not a Capability but "
                f"{type(capability).__name__}."
            )
        found.append(capability)
    return tuple(found)


def prepare(manifest: Manifest) -> Prepared:
    openers, issues = [], unserved(manifest)
    for capability in capabilities():
        try:
            opener = capability.prepare(manifest)
        except InitializationIssue as issue:
            issues.append(issue)
        else:
            if opener is not None:
                openers.append((capability.name, opener))
    return Prepared(tuple(openers), tuple(issues))


SERVED_BY_THE_RUN = frozenset({"contexts.user-defined", "orchestrator.system_prompt.dial"})
TOLD_BY_THE_CATALOG = frozenset({"tool_sets.predefined", "tools.predefined-tool"})
"""References that are still there could not be resolved, and the catalog has told why."""


def unserved(manifest: Manifest) -> list[InitializationIssue]:
    """One issue for each part of the manifest that no configured capability serves."""
    served = SERVED_BY_THE_RUN.union(
        TOLD_BY_THE_CATALOG, *(capability.serves for capability in capabilities())
    )
    return [
        InitializationIssue(
            f"{part.path}: {part.name!r} is not available in this installation, "
            "so the application runs without it."
        )
        for part in parts_in_use(manifest)
        if part.name not in served
    ]
