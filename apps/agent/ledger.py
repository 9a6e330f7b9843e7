"""Defines the interface to a run's stored steps and questions, from which another process can
resume the run.

The agent loop looks up each step before it calls a model or a tool, and never repeats a finished
step.
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
"""Decides whether a step that has started but not finished is repeated when the run is resumed."""
InteractionKind = Literal["approval", "question", "sign_in", "client_tool", "elicitation", "timer"]
EVERY_KIND: frozenset[InteractionKind] = frozenset(get_args(InteractionKind))

Consent = Literal["always", "confirm"]
"""A user's lasting decision about a tool: `always` approves every call, `confirm` requires approval
for each one.
"""

WAITING = "waiting"
"""The finish reason of a run that is waiting for a user's answer."""


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded step of a run."""

    key: str
    """The key, such as `open`, `m:2`, `recovered:2` or `t:2:0:<call id>`.

    The key of a tool call contains the index of the call, because models reuse IDs. A step of a
    nested run has a key such as `t:2:0:<call id>/m:1`.
    """
    kind: StepKind
    status: StepStatus
    policy: Policy = "repeat"
    result: Mapping[str, Any] = field(default_factory=dict)
    """The result as JSON. It is empty until the step is done."""


@dataclass(frozen=True, slots=True)
class InteractionRequest:
    """A question that a step asks a user."""

    key: str
    """The key of the step that asks the question."""
    kind: InteractionKind
    asked: Mapping[str, Any]
    """The JSON for the card that shows the question."""
    seconds: float | None = 60
    """The time limit for the answer in seconds, or None for no limit."""
    answer: Mapping[str, Any] | None = None
    """The user's answer: None until there is one, and `{"outcome": "timeout"}` after the time
    limit.
    """
    answered_by: str = ""
    is_time_set: bool = False
    """True if the manifest sets the time limit."""


class Ledger(Protocol):
    """Records the steps of one run and the questions that they ask."""

    @property
    def is_kept(self) -> bool:
        """Return True if the run is stored. Otherwise, nothing is recorded, and the run ends with
        its request.
        """
        ...

    @property
    def can_ask(self) -> Set[InteractionKind]:
        """Return the kinds of questions that calls can ask in this run.

        If the run is not stored, only one call at a time can ask a question, and the client's next
        request contains the answer.
        """
        ...

    def step(self, key: str) -> Step | None: ...

    def record(self, step: Step) -> None:
        """Record the step. It replaces an earlier step with the same key. Never blocks and never
        fails.
        """
        ...

    async def flush(self) -> None:
        """Wait until all recorded steps are stored. Raises `LeaseLost` or `NotStored`."""
        ...

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None: ...

    def ask(self, interaction: InteractionRequest) -> None:
        """Record a question. It is stored when the run begins to wait. If a question with the same
        key is already open, the open question remains.
        """
        ...

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
        """Ask the user while the step is running, and return the answer, which is not stored.

        Its `outcome` is "timeout" if no user answers in time.
        """
        ...

    def stopping(self, key: str) -> asyncio.Event:
        """Return an event that is set when a user stops this step's sub-agent without stopping the
        run.
        """
        ...

    def consent(self, tool: str) -> Consent | None:
        """Return the user's lasting decision about the tool, or about all tools, or None if there
        is none.
        """
        ...

    def idempotency_key(self, key: str) -> str:
        """Return the step's idempotency key. It is the same for each attempt, but random if the run
        is not stored.
        """
        ...


class UnstoredLedger:
    is_kept = False
    can_ask: Set[InteractionKind] = frozenset()

    def step(self, key: str) -> None:
        return None

    def record(self, step: Step) -> None: ...

    async def flush(self) -> None: ...

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None:
        return None

    def ask(self, interaction: InteractionRequest) -> None: ...

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
        return {"outcome": "timeout"}

    def stopping(self, key: str) -> asyncio.Event:
        return asyncio.Event()

    def consent(self, tool: str) -> None:
        return None

    def idempotency_key(self, key: str) -> str:
        return uuid.uuid4().hex


NO_LEDGER: Ledger = UnstoredLedger()


@dataclass(frozen=True, slots=True)
class NestedLedger:
    """The ledger of a run that is nested in a step of another run. It records in the outer run's
    ledger, under keys that begin with `prefix/`.
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

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None:
        return self.parent.interaction(self.whole(key), kind)

    def ask(self, interaction: InteractionRequest) -> None:
        self.parent.ask(replace(interaction, key=self.whole(interaction.key)))

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
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
    """Return the key under which the outermost run's ledger stores the step."""
    while isinstance(ledger, NestedLedger):
        key, ledger = ledger.whole(key), ledger.parent
    return key


def ledger_within(ledger: Ledger, prefix: str) -> Ledger:
    """Return the ledger of a run that is nested in the step `prefix`. If the run is not stored,
    nested runs cannot ask users questions.
    """
    return NestedLedger(ledger, prefix) if ledger.is_kept else NO_LEDGER
