"""Links between notes, `[[title]]` and `[[words|title]]`, as they stand in a text.

What stands in code is code.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from apps.notes.content import key_of
from apps.notes.limits import LONGEST_TITLE

# Code first, so that a link inside of it is not seen.
_pieces = re.compile(
    r"(?P<fence>^ {0,3}(?P<mark>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=mark)[`~]*[ \t]*$|.*\Z))"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    rf"|\[\[(?:(?P<words>[^\[\]|\n]{{1,500}})\|)?(?P<title>[^\[\]|\n]{{1,{LONGEST_TITLE}}})\]\]",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Link:
    """`words` are what it is shown as, "" for its title."""

    title: str
    words: str = ""


def links_in(text: str) -> Iterator[Link]:
    for found in _pieces.finditer(text):
        if found["title"] is not None and key_of(found["title"]):
            yield Link(" ".join(found["title"].split()), (found["words"] or "").strip())


def linked_keys(text: str) -> list[str]:
    """The keys of the titles, each once, in the order of the text."""
    return list(dict.fromkeys(key_of(link.title) for link in links_in(text)))


def with_links_to(text: str, old: str, new: str) -> str:
    """The text with the title `new` in each link to `old`; all else stays as it is."""
    wanted = key_of(old)

    def renamed(found: re.Match[str]) -> str:
        if found["title"] is None or key_of(found["title"]) != wanted:
            return found[0]
        words = "" if found["words"] is None else f"{found['words']}|"
        return f"[[{words}{new}]]"

    return replaced(text, renamed)


def replaced(text: str, change: Callable[[re.Match[str]], str]) -> str:
    return _pieces.sub(change, text)
