"""Calls that ask the person of a run that nobody keeps: they wait in the state of the answer.

The state carries them signed, with the application, its manifest, the caller and the end of the time
to answer. The next message answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.core import signing

from apps.accounts.caller import Caller
from apps.agent.events import Emit, TextDelta
from apps.agent.ledger import Interaction, InteractionKind, Ledger, Unkept
from apps.agent.messages import Message, to_dict
from apps.agent.progress import Progress
from apps.capabilities.questions.text import question_answer, question_card
from apps.capabilities.wrappers.approval_text import approval_answer, approval_card
from apps.capabilities.wrappers.numbered_cards import NumberedCard
from apps.catalog.resolved_application import ResolvedApplication

PENDING = "pending_calls"
"""The key of the state."""
SALT = "quickapps.pending-calls"
DAY = 86_400.0
"""The time to answer where the manifest sets none: a message may be read the next morning."""
LONGEST = 30 * DAY
"""The time to answer where the manifest sets no limit: so long it is kept what was answered."""

CARDS: Mapping[InteractionKind, Callable[[Mapping[str, Any]], NumberedCard]] = {
    "approval": approval_card,
    "question": question_card,
}
ANSWERS: Mapping[InteractionKind, Callable[..., dict[str, Any]]] = {
    "approval": approval_answer,
    "question": question_answer,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Who may answer, and where."""

    application: str
    manifest: str
    caller: str


def scope_of(application: ResolvedApplication, caller: Caller) -> Scope:
    return Scope(application.slug, application.digest, f"{caller.kind}:{caller.bucket}")


class AskingLedger(Unkept):
    """The ledger of a run whose client can be asked with the answer.

    `answered` is the answer to the first of the calls that the run begins with. `asked` is what the
    answer ends with.
    """

    can_ask: Set[InteractionKind] = frozenset(CARDS)

    def __init__(self, answered: Interaction | None = None) -> None:
        self.answered = answered
        self.asked: Interaction | None = None

    def interaction(self, key: str, kind: InteractionKind) -> Interaction | None:
        """The calls that a run begins with belong to its turn 0."""
        given = self.answered
        is_answered = given is not None and given.kind == kind and key.startswith("t:0:0:")
        return given if is_answered else None

    def ask(self, interaction: Interaction) -> None:
        self.asked = interaction


def ask_person(
    ledger: Ledger,
    application: ResolvedApplication,
    caller: Caller,
    progress: Progress,
    emit: Emit,
) -> dict[str, Any]:
    """End the text of the answer with what is asked, if anything is; the state that goes with it."""
    asked = ledger.asked if isinstance(ledger, AskingLedger) else None
    if asked is None or progress.waiting is None:
        return {}
    due = time.time() + seconds_for(asked)
    text = f"{CARDS[asked.kind](asked.asked).markdown}\n\n{waiting_line(due)}"
    emit(TextDelta(progress.lead + text))
    progress.say(text)
    return {PENDING: signed(scope_of(application, caller), progress.waiting, asked, due)}


def seconds_for(asked: Interaction) -> float:
    if not asked.is_time_set:
        return DAY
    return LONGEST if asked.seconds is None else min(asked.seconds, LONGEST)


def waiting_line(due: float) -> str:
    return (
        f"Waiting for your answer until {datetime.fromtimestamp(due, UTC):%Y-%m-%d %H:%M:%S} UTC."
    )


def signed(scope: Scope, waiting: Message, asked: Interaction, due: float) -> str:
    content = {
        "id": uuid4().hex,
        "application": scope.application,
        "manifest": scope.manifest,
        "caller": scope.caller,
        "due": due,
        "message": to_dict(waiting),
        "kind": asked.kind,
        "asked": asked.asked,
    }
    return signing.dumps(content, salt=SALT, compress=True)
