"""The untrusted content that a conversation has read, which may have been written to mislead it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.agent.ledger import NO_LEDGER, Ledger, Step
from apps.agent.messages import Message

UNTRUSTED = "untrusted"
"""The key of the sources in the state of an answer, and of the step that has them."""
MOST = 10
"""Sources that are kept; a card names the first of them."""
CHARACTERS = 100
"""Of one source."""


@dataclass(slots=True)
class Taint:
    """What a conversation has read, in words for people: `web page example.org`.

    A run inside of another one has the same object, so each knows what the other has read. What is
    added becomes a step of the `ledger`, which is that of the outermost run.
    """

    ledger: Ledger = NO_LEDGER
    sources: list[str] = field(default_factory=list)

    def add(self, source: str) -> None:
        if self.keep([source]) and self.ledger.is_kept:
            self.ledger.record(Step(UNTRUSTED, "open", "done", result=self.state))

    def keep(self, sources: Iterable[str]) -> bool:
        """Add sources that are recorded elsewhere; whether one of them is new."""
        before = len(self.sources)
        for source in sources:
            line = " ".join(source.split())
            line = line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 1]}…"
            if line and line not in self.sources and len(self.sources) < MOST:
                self.sources.append(line)
        return len(self.sources) > before

    @property
    def state(self) -> dict[str, Any]:
        """The part of an answer's state that makes the next request tainted too."""
        return {UNTRUSTED: [*self.sources]} if self.sources else {}

    @property
    def reason(self) -> str:
        """A sentence for whoever approves a call; "" if nothing untrusted was read."""
        if not self.sources:
            return ""
        first, *others = self.sources
        more = f", and {len(others)} more" if others else ""
        return f"This conversation has read untrusted content: {first}{more}."


def recorded_taint(ledger: Ledger, messages: Sequence[Message], taint: Taint | None) -> Taint:
    """The `taint` of the run around, else a new one with what the run had read before it was cut;
    with what the states of messages tell.
    """
    if taint is None:
        taint, step = Taint(ledger), ledger.step(UNTRUSTED)
        taint.keep(sources_in(step.result) if step is not None else ())
    for message in messages:
        # Of a question, too: a program may have sent it.
        taint.keep(sources_in(message.state))
    return taint


def sources_in(state: Mapping[str, Any]) -> list[str]:
    """The sources in a state, which went through the hands of clients."""
    found = state.get(UNTRUSTED)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
