"""Tracks which untrusted content a conversation has read. Such content can contain instructions
that mislead the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.agent.ledger import NO_LEDGER, Ledger, Step

UNTRUSTED = "untrusted"
"""The key under which an answer's state stores the untrusted sources. It is also the key of the
step that records them.
"""
MOST = 10
"""The maximum number of sources that are stored. An approval card names the first one."""
CHARACTERS = 100
"""Sources are truncated to this many characters."""


@dataclass(slots=True)
class Taint:
    """The untrusted sources that a conversation has read, in words for users, such as `web page
    example.org`.

    Nested runs share this object with the outer run. The `ledger` records new sources as a step.
    """

    ledger: Ledger = NO_LEDGER
    sources: list[str] = field(default_factory=list)

    def add(self, source: str) -> None:
        if self.keep([source]) and self.ledger.is_kept:
            self.ledger.record(Step(UNTRUSTED, "open", "done", result=self.state))

    def keep(self, sources: Iterable[str]) -> bool:
        """Add sources without recording them in the ledger. Return True if at least one is new."""
        before = len(self.sources)
        for source in sources:
            line = " ".join(source.split())
            line = line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 1]}…"
            if line and line not in self.sources and len(self.sources) < MOST:
                self.sources.append(line)
        return len(self.sources) > before

    @property
    def state(self) -> dict[str, Any]:
        """Return the sources as part of the answer's state, so that they apply to later requests
        too.
        """
        return {UNTRUSTED: [*self.sources]} if self.sources else {}

    @property
    def reason(self) -> str:
        """Return the sentence that an approval card shows about the sources, or "" if there are
        none.
        """
        if not self.sources:
            return ""
        first, *others = self.sources
        more = f", and {len(others)} more" if others else ""
        return f"This conversation has read untrusted content: {first}{more}."


def sources_in(state: Mapping[str, Any]) -> list[str]:
    """Return the valid sources in a message's state, which a client may have changed."""
    found = state.get(UNTRUSTED)
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
