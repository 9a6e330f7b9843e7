"""Stores the steps of a run and its questions to users, so that another process can resume it.

The loop checks the ledger before it asks a model or runs a tool, and never repeats a finished step.
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
"""Decides whether a step that began but did not finish is repeated."""
InteractionKind = Literal["approval", "question", "sign_in", "client_tool", "elicitation", "timer"]
EVERY_KIND: frozenset[InteractionKind] = frozenset(get_args(InteractionKind))

Consent = Literal["always", "confirm"]
"""A user's standing decision: no call of a tool needs approval, or every call does."""

WAITING = "waiting"
"""The finish reason of a run that resumes once a user has answered."""


@dataclass(frozen=True, slots=True)
class Step:
    """A recorded step of a run.

    `key` is `open`, `m:2`, `recovered:2` or `t:2:0:<call id>`. It includes the call's position in
    its answer because models repeat IDs. In a child it is `t:2:0:<call id>/m:1`. `result` is JSON,
    {} until the step is done.
    """

    key: str
    kind: StepKind
    status: StepStatus
    policy: Policy = "repeat"
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InteractionRequest:
    """The question that the step `key` asks a user.

    `asked` is JSON for the card that shows it; untrusted text in it is plain text. `seconds` is the
    time limit for an answer, or None for no limit; `is_time_set` means that a manifest sets it.
    `answer` is None until the user answers, and `{"outcome": "timeout"}` after the time limit.
    """

    key: str
    kind: InteractionKind
    asked: Mapping[str, Any]
    seconds: float | None = 60
    answer: Mapping[str, Any] | None = None
    answered_by: str = ""
    is_time_set: bool = False


class Ledger(Protocol):
    """Records the steps of one run."""

    @property
    def is_kept(self) -> bool:
        """Return False for a run that is not stored: nothing is recorded, and the run ends with its
        request.
        """
        ...

    @property
    def can_ask(self) -> Set[InteractionKind]:
        """Return the kinds of interaction that calls in the run can request.

        In a run that is not stored, one call asks at a time, and the next message brings the
        answer.
        """
        ...

    def step(self, key: str) -> Step | None: ...

    def record(self, step: Step) -> None:
        """Record the step, which replaces an earlier one with the same key. Never blocks, never
        fails.
        """
        ...

    async def flush(self) -> None:
        """Return when everything recorded so far is durable. Raises `LeaseLost`, `NotStored`."""
        ...

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None: ...

    def ask(self, interaction: InteractionRequest) -> None:
        """Record a question, which is stored when the run parks. An earlier question with the same
        key stays open.
        """
        ...

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
        """Ask while the step runs, and return the answer, which is not stored.

        Its `outcome` is "timeout" if nobody answered in time.
        """
        ...

    def stopping(self, key: str) -> asyncio.Event:
        """Return an event that is set when a user stops only the run inside the step."""
        ...

    def consent(self, tool: str) -> Consent | None:
        """Return the user's decision about all calls of a tool, or of every tool."""
        ...

    def idempotency_key(self, key: str) -> str:
        """Return a key that is the same for each attempt at a step, or random if the run is not
        stored.
        """
        ...


class UnstoredLedger:
    """The ledger of a run that is not stored. The run ends with the client's connection."""

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
class Child:
    """The part of a ledger that belongs to a run inside a step. Its keys begin with `prefix/`; the
    methods return whole keys.
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
    """Return the key of a step as the outermost run stores it."""
    while isinstance(ledger, Child):
        key, ledger = ledger.whole(key), ledger.parent
    return key


def ledger_within(ledger: Ledger, prefix: str) -> Ledger:
    """Return the ledger of a sub-agent or a nested application that the step `prefix` runs.

    Inside a run that is not stored, it cannot ask users.
    """
    return Child(ledger, prefix) if ledger.is_kept else NO_LEDGER
