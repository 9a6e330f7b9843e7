"""Patterns of sentences that have to be decoded, and the check of docstrings."""

import re
from collections.abc import Iterable

from tools.english.sentences import Sentence

FRAGMENT = re.compile(r"(Of|For|What|Whether|Who|Whoever|Whose|Which|Those|That|As|Where|How)\b")
"""The first word of a docstring that makes no sense without the name above it."""
PATTERNS = {
    "fragments": FRAGMENT.pattern,
    "tell, told": r"\b(tells?|told)\b",
    "somebody, whoever": r"\b(somebody|whoever)\b",
    "those that, the one of": r"\b(those|the ones?) (that|of|who|which)\b",
    "goes on": r"\b(go|goes|going|gone|went) on\b",
    "stands": r"\bstands?\b",
    "former, anew, meanwhile": r"\b(of before|of then|former|anew|meanwhile)\b",
    "is kept": r"\b(is|are|be|was|were) kept\b",
    "beside": r"\bbeside\b",
    "for so long": r"\bfor so long\b",
    "where there is none": r"\bwhere (it may|there (is|are) none|nothing is)\b",
    "is away": r"\bis away\b",
    "held up, held to": r"\bheld (up|to)\b",
    "person": r"\b(persons?|people)\b",
    "figures": r"\bfigures?\b",
    "looked for": r"\b(look-ups?|looks? for|looked for)\b",
    "way back, way out": r"\bway (back|out)\b",
    "mend": r"\bmend(s|ed)?\b",
    "helper": r"\bhelpers?\b",
}
"""By the name of each kind of wording; `fragments` are searched at the beginning only."""
CODE = re.compile(r"`[^`]*`|@(?:param|type)\s*\{.*?\}+ *\[?[\w.]*")
"""Names in the code: between backticks, and types with their names in comments of scripts."""


def fragments(docstrings: Iterable[Sentence]) -> list[Sentence]:
    """Return the docstrings whose first sentence has no subject."""
    return [one for one in docstrings if FRAGMENT.match(one.text)]


def count(sentences: Iterable[Sentence]) -> dict[str, int]:
    """Return the number of sentences with each pattern outside of code, and the number of all as
    `sentences`.
    """
    counts = dict.fromkeys(PATTERNS, 0)
    number = 0
    for sentence in sentences:
        number += 1
        text = CODE.sub("`…`", sentence.text)
        for name, pattern in PATTERNS.items():
            found = re.match if name == "fragments" else re.search
            flags = re.NOFLAG if name == "fragments" else re.IGNORECASE
            counts[name] += found(pattern, text, flags) is not None
    return {"sentences": number} | counts
