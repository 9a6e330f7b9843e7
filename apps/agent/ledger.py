"""The steps of a run and what it asks people, kept so that another process can go on with it.

The loop asks a ledger before it asks a model or runs a tool: a step that is done is not made again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

StepKind = Literal["open", "model", "tool", "recovery"]
StepStatus = Literal["begun", "done", "unknown"]
Policy = Literal["repeat", "never"]
"""Whether a step that began and did not finish may be made again."""
InteractionKind = Literal["approval", "question", "sign_in", "client_tool", "elicitation", "timer"]
EVERY_KIND: frozenset[InteractionKind] = frozenset(get_args(InteractionKind))

Consent = Literal["always", "confirm"]
"""Beforehand: calls need no approval, or all of them do."""

WAITING = "waiting"
"""The finish reason of a run that goes on when somebody has answered."""


@dataclass(frozen=True, slots=True)
class Step:
    """`key` is `open`, `m:2`, `recovered:2` or `t:2:0:<call id>`, with the call's position in its
    answer because models repeat ids; in a child it is `t:2:0:<call id>/m:1`.

    `result` is JSON; {} until the step is done.
    """

    key: str
    kind: StepKind
    status: StepStatus
    policy: Policy = "repeat"
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Interaction:
    """Something that the step of that `key` asks somebody.

    `asked` is JSON for the card that shows it; untrusted text in it is plain text. `seconds` is the
    time for an answer, None for no limit; a manifest names it if `is_time_set`. `answer` is None
    until there is one, and `{"outcome": "timeout"}` when the time was over.
    """

    key: str
    kind: InteractionKind
    asked: Mapping[str, Any]
    seconds: float | None = 60
    answer: Mapping[str, Any] | None = None
    answered_by: str = ""
    is_time_set: bool = False


class Ledger(Protocol):
    """The steps of one run."""

    @property
    def is_kept(self) -> bool:
        """False for a run that nobody keeps: nothing is recorded, and it ends with its request."""
        ...

    @property
    def can_ask(self) -> Set[InteractionKind]:
        """What a call of the run can ask somebody.

        In a run that nobody keeps, one call asks at a time, and the answer comes with the next
        message.
        """
        ...

    def step(self, key: str) -> Step | None: ...

    def record(self, step: Step) -> None:
        """Note the step in place of an earlier one of its key. Never waits, never fails."""
        ...

    async def flush(self) -> None:
        """Return when everything recorded so far is durable. Raises `LeaseLost`, `NotStored`."""
        ...

    def interaction(self, key: str, kind: InteractionKind) -> Interaction | None: ...

    def ask(self, interaction: Interaction) -> None:
        """Note the question, to be stored when the run parks, or that an earlier one is open."""
        ...

    async def ask_now(self, interaction: Interaction) -> Mapping[str, Any]:
        """Ask while the step goes on, and return the answer, which is not kept. Its `outcome` is
        "timeout" if nobody answered in time.
        """
        ...

    def stopping(self, key: str) -> asyncio.Event:
        """Set once somebody wishes that the run inside of the step ends by itself."""
        ...

    def consent(self, tool: str) -> Consent | None:
        """What the person of the run decided about all calls of a tool, or of every tool."""
        ...

    def idempotency_key(self, key: str) -> str:
        """The same for each attempt at a step; random for a run that nobody keeps."""
        ...


class Unkept:
    """The ledger of a run whose client waits for it: the run dies with the connection."""

    is_kept = False
    can_ask: Set[InteractionKind] = frozenset()

    def step(self, key: str) -> None:
        return None

    def record(self, step: Step) -> None: ...

    async def flush(self) -> None: ...

    def interaction(self, key: str, kind: InteractionKind) -> Interaction | None:
        return None

    def ask(self, interaction: Interaction) -> None: ...

    async def ask_now(self, interaction: Interaction) -> Mapping[str, Any]:
        return {"outcome": "timeout"}

    def stopping(self, key: str) -> asyncio.Event:
        return asyncio.Event()

    def consent(self, tool: str) -> None:
        return None

    def idempotency_key(self, key: str) -> str:
        return uuid.uuid4().hex


NO_LEDGER: Ledger = Unkept()


@dataclass(frozen=True, slots=True)
class Child:
    """The part of a ledger that belongs to a run inside of a step; its keys begin with `prefix/`.

    What it returns has whole keys.
    """

    parent: Ledger
    prefix: str

    @property
    def is_kept(self) -> bool:
        return self.parent.is_kept

    @property
    def can_ask(self) -> Set[InteractionKind]:
        return self.parent.can_ask

    def step(self, key: str) -> Step | None:
        return self.parent.step(self.whole(key))

    def record(self, step: Step) -> None:
        self.parent.record(replace(step, key=self.whole(step.key)))

    async def flush(self) -> None:
        await self.parent.flush()

    def interaction(self, key: str, kind: InteractionKind) -> Interaction | None:
        return self.parent.interaction(self.whole(key), kind)

    def ask(self, interaction: Interaction) -> None:
        self.parent.ask(replace(interaction, key=self.whole(interaction.key)))

    async def ask_now(self, interaction: Interaction) -> Mapping[str, Any]:
        return await self.parent.ask_now(replace(interaction, key=self.whole(interaction.key)))

    def stopping(self, key: str) -> asyncio.Event:
        return self.parent.stopping(self.whole(key))

    def consent(self, tool: str) -> Consent | None:
        return self.parent.consent(tool)

    def idempotency_key(self, key: str) -> str:
        return self.parent.idempotency_key(self.whole(key))

    def whole(self, key: str) -> str:
        return f"{self.prefix}/{key}"


def whole_key(ledger: Ledger, key: str) -> str:
    """The key of a step as the outermost run has it."""
    while isinstance(ledger, Child):
        key, ledger = ledger.whole(key), ledger.parent
    return key


def within(ledger: Ledger, prefix: str) -> Ledger:
    """The ledger of a sub-agent or a nested application that the step `prefix` runs.

    Inside of a run that nobody keeps, nobody can be asked.
    """
    return Child(ledger, prefix) if ledger.is_kept else NO_LEDGER
