"""Implements the ledger of a stored run. It contains steps that are already stored, and new ones."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.agent.ledger import EVERY_KIND, Consent, InteractionKind, InteractionRequest, Step
from apps.live import models
from apps.live.elicitations import ask_during_call
from apps.live.events import shorten_key, storable_value
from apps.live.journal.run_record import RunRecord
from apps.live.models import ALL_TOOLS, Run, RunStep


class StepLedger:
    """The `Ledger` of a stored run. If `is_closing` is True because the process is stopping, no
    further model call begins.
    """

    is_kept = True
    can_ask = EVERY_KIND

    def __init__(
        self,
        record: RunRecord,
        steps: Iterable[Step] = (),
        interactions: Iterable[InteractionRequest] = (),
        consents: Mapping[str, Consent] | None = None,
    ) -> None:
        self.record_of_run = record
        self.steps = {step.key: step for step in steps}
        self.interactions = {(one.key, one.kind): one for one in interactions}
        self.consents = consents or {}
        self.asked: dict[tuple[str, InteractionKind], InteractionRequest] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.is_closing = False
        self.adjust_timeout: Callable[[InteractionRequest], InteractionRequest] = lambda asked: (
            asked
        )
        """Returns the question, with a changed timeout if no user started the run."""

    def step(self, key: str) -> Step | None:
        # Steps inside a tool call are allowed, so that the tool can finish.
        if self.is_closing and "/" not in key and key.startswith("m:"):
            raise asyncio.CancelledError
        return self.steps.get(shorten_key(key))

    def record(self, step: Step) -> None:
        kept = replace(step, key=shorten_key(step.key))
        self.steps[kept.key] = kept
        self.record_of_run.note(kept)

    async def flush(self) -> None:
        await self.record_of_run.flush()

    def interaction(self, key: str, kind: InteractionKind) -> InteractionRequest | None:
        return self.interactions.get((shorten_key(key), kind))

    def ask(self, interaction: InteractionRequest) -> None:
        key = shorten_key(interaction.key)
        self.asked[key, interaction.kind] = replace(self.adjust_timeout(interaction), key=key)

    async def ask_now(self, interaction: InteractionRequest) -> Mapping[str, Any]:
        return await ask_during_call(self.record_of_run, interaction)

    def stop_subagent(self, key: str) -> bool:
        """Request that the sub-agent with this key stop. Return False if there is none."""
        wish = self.stops.get(key)
        if wish is not None:
            wish.set()
        return wish is not None

    def stopping(self, key: str) -> asyncio.Event:
        return self.stops.setdefault(shorten_key(key), asyncio.Event())

    def consent(self, tool: str) -> Consent | None:
        return self.consents.get(tool) or self.consents.get(ALL_TOOLS)

    def idempotency_key(self, key: str) -> str:
        return f"{self.record_of_run.log.run}:{shorten_key(key)}"

    def store_asked(self) -> None:
        """Save the new questions. Must be called in the transaction that marks the run as waiting."""
        run = self.record_of_run.log.run
        new = [one for one in self.asked.values() if (one.key, one.kind) not in self.interactions]
        rows = [asked_row(run, one) for one in new]
        models.Interaction.objects.bulk_create(rows, ignore_conflicts=True)


def asked_row(run: UUID, asked: InteractionRequest) -> models.Interaction:
    seconds = asked.seconds
    return models.Interaction(
        run_id=run,
        key=asked.key,
        kind=asked.kind,
        asked=storable_value(asked.asked),
        due_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds),
    )


def read_steps(run: Run) -> list[Step]:
    return [step_of(row) for row in RunStep.objects.filter(run=run)]


def step_of(row: RunStep) -> Step:
    return Step(row.key, row.kind, row.status, row.policy, row.read_result())  # type: ignore[arg-type]


def read_interactions(run: Run) -> list[InteractionRequest]:
    rows = models.Interaction.objects.filter(run=run)
    return [
        InteractionRequest(row.key, row.kind, row.asked, None, row.answer, row.answered_by)  # type: ignore[arg-type]
        for row in rows
    ]
