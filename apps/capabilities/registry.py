"""Defines capabilities: features that are prepared once per application version and opened for each
run.

`settings.CAPABILITIES` lists them by dotted path, in order, as `MIDDLEWARE` lists middleware. A
capability reads the manifest when it is prepared. Opening it must be fast, because every run waits
for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Set
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from apps.accounts.caller import Caller
from apps.agent.events import Emit
from apps.agent.ledger import InteractionKind, Ledger
from apps.agent.loop_options import ViewStep
from apps.agent.messages import ModelMessage
from apps.agent.meter import NO_METER, Meter
from apps.agent.progress import Progress
from apps.agent.recovery import Recovery
from apps.agent.taint import Taint
from apps.agent.tools import ResultStep, Spend, Tool, Toolbox, ignore_usage
from apps.capabilities.chat_context import NO_CHAT, ChatContext
from apps.errors import InitializationIssue, Unsupported
from apps.manifest.manifest import Manifest
from apps.manifest.markdown.agent_definition import AgentDefinition
from apps.manifest.markdown.chat_place import ChatPlace
from apps.manifest.markdown.skill_document import InstalledSkill
from apps.manifest.parts import parts_in_use
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
    """True if model calls of the nested run count towards the limit of the outer run."""


Delegate = Callable[[Delegation, Emit, Ledger], Coroutine[Any, Any, str | None]]
"""A function that runs a delegation and emits its events.

The function returns the final text, which may be "", or None if the nested run waits for a user.
Raises `QuickAppError` if the nested run fails.
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


Compose = Callable[[Toolbox], str]
"""A function that returns a part of the system prompt, or "", once all tools are known."""

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


@cache
def capabilities() -> tuple[Capability, ...]:
    """Import the configured capabilities. Raises `ImproperlyConfigured` if a path does not lead to
    a capability.
    """
    found = []
    for path in settings.CAPABILITIES:
        capability = import_string(path)
        if not isinstance(capability, Capability):
            raise ImproperlyConfigured(
                f"CAPABILITIES contains {path!r}, which is not a Capability but a "
                f"{type(capability).__name__}."
            )
        found.append(capability)
    return tuple(found)


def prepare(manifest: Manifest) -> PreparedCapabilities:
    openers, issues = [], unserved(manifest)
    for capability in capabilities():
        try:
            opener = capability.prepare(manifest)
        except InitializationIssue as issue:
            issues.append(issue)
        else:
            if opener is not None:
                openers.append((capability.name, opener))
    return PreparedCapabilities(tuple(openers), tuple(issues))


SERVED_BY_THE_RUN = frozenset({"contexts.user-defined", "orchestrator.system_prompt.dial"})
RESOLVED_BY_THE_CATALOG = frozenset({"tool_sets.predefined", "tools.predefined-tool"})
"""The manifest parts that refer to catalog entries. The catalog resolves these references, and
reports unresolved ones.
"""


def unserved(manifest: Manifest) -> list[InitializationIssue]:
    """Return an issue for each manifest part that no capability supports."""
    served = SERVED_BY_THE_RUN.union(
        RESOLVED_BY_THE_CATALOG, *(capability.serves for capability in capabilities())
    )
    return [
        InitializationIssue(
            f"{part.path}: {part.name!r} is not available in this installation, "
            "so the application runs without it."
        )
        for part in parts_in_use(manifest)
        if part.name not in served
    ]
