"""Possible arguments that a question mentions, clause by clause."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from apps.demo.cities import NAMES, find_city

# The first that fits wins. A name in capitals after "in" or "and" is a place, known or not.
_token = re.compile(
    rf"""["“](?P<text>[^"”\n]{{1,500}})["”]
    |(?P<url>https?://[^\s<>"']+[^\s<>"'.,;:!?)\]])
    |(?P<file>\b[^\W_][\w/-]{{0,200}}\.[A-Za-z]{{2,8}}\b)
    |(?P<zone>\b[A-Z][A-Za-z]{{1,20}}(?:/[A-Z][A-Za-z_]{{1,30}}){{1,2}}\b|\bUTC\b)
    |\b(?P<place>(?i:{NAMES})\b|(?:(?<=\bin\s)|(?<=\band\s))[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){{0,3}})
    |(?<![\w.])(?P<number>-?\d{{1,15}}(?:\.\d{{1,15}})?)(?!\w)
    |(?P<end>[;\n,&]|[.!?](?=\s|$)|\b(?i:and|then|plus|also|or)\b)
    |(?P<word>[^\W_]+)""",
    re.VERBOSE,
)
_file = re.compile(r"\w\.[A-Za-z]{2,8}$")


@dataclass(frozen=True, slots=True)
class Clue:
    """`kind` is "url", "file", "text", "place" or "number"; `zone` the IANA time zone of a place."""

    kind: str
    text: str
    zone: str | None = None

    @property
    def number(self) -> int | float:
        return float(self.text) if "." in self.text else int(self.text)


@dataclass(slots=True)
class Clause:
    """`words` are in lower case and not part of clues."""

    words: set[str] = field(default_factory=set)
    clues: list[Clue] = field(default_factory=list)


def read_clauses(question: str) -> list[Clause]:
    """A question cut at "and", commas and the ends of sentences."""
    clauses = [Clause()]
    for match in _token.finditer(question):
        kind = match.lastgroup or ""
        text = match[kind]
        if kind == "end":
            clauses.append(Clause())
        elif kind == "word":
            clauses[-1].words.add(text.casefold())
        elif kind == "zone":
            clauses[-1].clues.append(Clue("place", text, text))
        elif kind == "place" and (city := find_city(text)):
            clauses[-1].clues.append(Clue("place", city.name, city.zone))
        else:
            kind = "file" if kind == "text" and _file.search(text) else kind
            clauses[-1].clues.append(Clue(kind, text))
    return clauses


def all_clues(question: str) -> list[Clue]:
    return [clue for clause in read_clauses(question) for clue in clause.clues]
