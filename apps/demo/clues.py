"""Finds possible arguments of tool calls in a question, clause by clause."""

import re
from typing import Any, NamedTuple

from apps.demo.cities import NAMES, find_city

# The first match is used. A capitalized name after "in" or "and" counts as a place, even if it is
# unknown.
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

Clue = dict[str, Any]
"""A possible tool argument that was found in a question, by its kind: "text", "url", "file" or
"number", or "place" with a "zone".
"""


class Clause(NamedTuple):
    """A clause of a question. `words` are in lower case and do not include the words of `clues`."""

    words: set[str]
    clues: list[Clue]


def read_clauses(question: str) -> list[Clause]:
    """Split a question at "and", commas and sentence ends."""
    clauses = [Clause(set(), [])]
    for match in _token.finditer(question):
        kind = match.lastgroup or ""
        if kind == "end":
            clauses.append(Clause(set(), []))
        elif kind == "word":
            clauses[-1].words.add(match[kind].casefold())
        else:
            clauses[-1].clues.append(read_clue(kind, match[kind]))
    return clauses


def read_clue(kind: str, text: str) -> Clue:
    match kind:
        case "number":
            return {kind: float(text) if "." in text else int(text)}
        case "zone":
            return {"place": text, "zone": text}
        case "place":
            city = find_city(text)
            return (
                {"place": city.name, "zone": city.time_zone}
                if city
                else {"place": text, "zone": None}
            )
        case _:
            return {"file" if kind == "text" and _file.search(text) else kind: text}


def all_clues(question: str) -> list[Clue]:
    return [clue for clause in read_clauses(question) for clue in clause.clues]
