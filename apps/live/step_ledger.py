"""The steps and questions of a run, as its rows and what is on the way to them."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.agent.ledger import EVERY_KIND, Consent, Interaction, InteractionKind, Step
from apps.live import models
from apps.live.elicitations import ask_while_going
from apps.live.events import storable
from apps.live.models import ALL_TOOLS, Run, RunStep
from apps.live.run_record import RunRecord
from apps.live.step_keys import kept_key


class StepLedger:
    """The `Ledger` of one run that is kept.

    When the process is about to end, `is_closing` lets no further turn of the run begin.
    """

    is_kept = True
    can_ask = EVERY_KIND

    def __init__(
        self,
        record: RunRecord,
        steps: Iterable[Step] = (),
        interactions: Iterable[Interaction] = (),
        consents: Mapping[str, Consent] | None = None,
    ) -> None:
        self.record_of_run = record
        self.steps = {step.key: step for step in steps}
        self.interactions = {(one.key, one.kind): one for one in interactions}
        self.consents = consents or {}
        self.asked: dict[tuple[str, InteractionKind], Interaction] = {}
        self.stops: dict[str, asyncio.Event] = {}
        self.is_closing = False
        self.patient: Callable[[Interaction], Interaction] = lambda asked: asked
        """Gives what is asked another time to be answered, where nobody may sit there."""

    def step(self, key: str) -> Step | None:
        # Inside of a tool's step nothing is refused: the tool may come to its end.
        if self.is_closing and "/" not in key and key.startswith("m:"):
            raise asyncio.CancelledError
        return self.steps.get(kept_key(key))

    def record(self, step: Step) -> None:
        kept = replace(step, key=kept_key(step.key))
        self.steps[kept.key] = kept
        self.record_of_run.note(kept)

    async def flush(self) -> None:
        await self.record_of_run.flush()

    def interaction(self, key: str, kind: InteractionKind) -> Interaction | None:
        return self.interactions.get((kept_key(key), kind))

    def ask(self, interaction: Interaction) -> None:
        key = kept_key(interaction.key)
        self.asked[key, interaction.kind] = replace(self.patient(interaction), key=key)

    async def ask_now(self, interaction: Interaction) -> Mapping[str, Any]:
        return await ask_while_going(self.record_of_run, interaction)

    def stop_helper(self, key: str) -> bool:
        """Somebody wishes that the helper stops; False if there is none of that key."""
        wish = self.stops.get(key)
        if wish is not None:
            wish.set()
        return wish is not None

    def stopping(self, key: str) -> asyncio.Event:
        return self.stops.setdefault(kept_key(key), asyncio.Event())

    def consent(self, tool: str) -> Consent | None:
        return self.consents.get(tool) or self.consents.get(ALL_TOOLS)

    def idempotency_key(self, key: str) -> str:
        return f"{self.record_of_run.log.run}:{kept_key(key)}"

    def store_asked(self) -> None:
        """Save what is asked and not yet so, in the transaction that parks the run."""
        run = self.record_of_run.log.run
        new = [one for one in self.asked.values() if (one.key, one.kind) not in self.interactions]
        rows = [asked_row(run, one) for one in new]
        models.Interaction.objects.bulk_create(rows, ignore_conflicts=True)


def asked_row(run: UUID, asked: Interaction) -> models.Interaction:
    seconds = asked.seconds
    return models.Interaction(
        run_id=run,
        key=asked.key,
        kind=asked.kind,
        asked=storable(asked.asked),
        due_at=None if seconds is None else timezone.now() + timedelta(seconds=seconds),
    )


def read_steps(run: Run) -> list[Step]:
    return [step_of(row) for row in RunStep.objects.filter(run=run)]


def step_of(row: RunStep) -> Step:
    return Step(row.key, row.kind, row.status, row.policy, row.result)  # type: ignore[arg-type]


def read_interactions(run: Run) -> list[Interaction]:
    rows = models.Interaction.objects.filter(run=run)
    return [
        Interaction(row.key, row.kind, row.asked, None, row.answer, row.answered_by)  # type: ignore[arg-type]
        for row in rows
    ]
