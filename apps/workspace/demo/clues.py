"""What a person's words hold that can be an argument: places, zones, numbers, quoted text.

A text is cut into clauses at "and", commas and the ends of sentences, but never inside a clue.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from zoneinfo import available_timezones

from apps.workspace.demo.cities import find_city, mentions

Kind = Literal["place", "zone", "number", "date", "url", "email", "quoted"]


@dataclass(frozen=True, slots=True)
class Clue:
    """`zone` is the IANA time zone of a place, as far as it is known."""

    kind: Kind
    text: str
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """`words` are those outside of its clues, in lower case.

    `name` is a place if the clause is nothing but a name that nobody knows.
    """

    text: str
    words: tuple[str, ...]
    clues: tuple[Clue, ...]
    name: Clue | None = None


MOST_CHARACTERS = 4_000
"""Of a question that is searched; longer ones are texts, not questions."""

_NO_PLACES = """
a an the it its this that my me your our you i we they he she what which who how when where why
please now today tomorrow tonight morning afternoon evening night week month year day days hours
general detail details short full fact case order english german french spanish yes no ok okay
thanks thank hello hi hey and or then also plus tell show give is are do does can could would
will get find compare every all both each time weather
"""
NO_PLACES = frozenset(_NO_PLACES.split())

_clue = re.compile(
    r"""(?P<quoted>"[^"\n]{1,500}"|“[^”\n]{1,500}”|«[^»\n]{1,500}»|(?<!\w)'[^'\n]{1,500}'(?!\w))
    |(?P<url>https?://[^\s<>"']+[^\s<>"'.,;:!?)\]])
    |(?P<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4})
    |(?P<date>\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b)
    |(?P<zone>\b[A-Z][A-Za-z]{1,20}/[A-Z][A-Za-z_+-]{1,30}(?:/[A-Z][A-Za-z_]{1,30})?\b|\bUTC\b|\bGMT\b)
    |(?P<number>(?<![\w.])-?\d{1,15}(?:\.\d{1,15})?(?![\w]))""",
    re.VERBOSE,
)
_name = r"[^\W\d_a-z][\w'\u2019-]*"  # begins with a capital letter
_after_preposition = re.compile(
    rf"\b(?:in|at|near|for|of|from|to|about)\s+({_name}(?:\s+{_name}){{0,3}})"
)
_lower_place = re.compile(r"\b(?:in|near|for)\s+([^\W\d_]+(?:\s+[^\W\d_]+)?)\s*$")
_capitals = re.compile(rf"\s*({_name}(?:\s+{_name}){{0,3}})\s*")
_separator = re.compile(r"[;\n,&]+|[.!?]+(?=\s|$)|\b(?:and|then|plus|also|or|vs)\b", re.IGNORECASE)
_mask = re.compile("\ue000(\\d+)\ue001")
_word = re.compile(r"[^\W_]+")


def read_clauses(text: str) -> list[Clause]:
    """The clauses of the beginning of a text, in order; empty ones are left out."""
    clues: list[Clue] = []

    def hide(clue: Clue) -> str:
        clues.append(clue)
        return f"\ue000{len(clues) - 1}\ue001"

    masked = re.sub("[\ue000\ue001]", " ", text[:MOST_CHARACTERS])
    masked = _clue.sub(lambda match: hide(read_clue(match)), masked)
    masked = mentions.sub(lambda match: hide(place(match[0])), masked)
    masked = _after_preposition.sub(lambda match: hidden_name(match, hide), masked)
    parts = (part.strip() for part in _separator.split(masked))
    return [read_clause(part, clues) for part in parts if part]


def read_clue(match: re.Match[str]) -> Clue:
    text = match[0]
    match match.lastgroup:
        case "quoted":
            return Clue("quoted", text[1:-1])
        case "url" | "email" | "date" | "number" as kind:
            return Clue(kind, text)
        case _:
            known = text in available_timezones()
            return Clue("zone", text, text) if known else Clue("place", text)


def hidden_name(match: re.Match[str], hide: Callable[[Clue], str]) -> str:
    """A capitalized name after a preposition is a place, known or not."""
    name = match[1]
    if name.split()[0].casefold() in NO_PLACES:
        return match[0]
    return f"{match[0][: match.start(1) - match.start()]}{hide(place(name))}"


def place(name: str) -> Clue:
    city = find_city(name)
    return Clue("place", city.name, city.zone) if city is not None else Clue("place", name)


def read_clause(masked: str, clues: list[Clue]) -> Clause:
    found = [clues[int(number)] for number in _mask.findall(masked)]
    bare = _mask.sub(" ", masked)
    text = _mask.sub(lambda match: clues[int(match[1])].text, masked)
    unknown = guess(_lower_place.search(bare)) if not found else None
    return Clause(
        text=text,
        words=tuple(_word.findall(bare.casefold())),
        clues=(unknown,) if unknown is not None else tuple(found),
        name=guess(_capitals.fullmatch(bare)) if not found else None,
    )


def guess(match: re.Match[str] | None) -> Clue | None:
    if match is None or NO_PLACES.intersection(match[1].casefold().split()):
        return None
    return place(match[1])
