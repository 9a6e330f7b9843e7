"""Finds and changes links between notes: `[[title]]` and `[[words|title]]`. Ignores links in code."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from apps.notes.content import title_key
from apps.notes.limits import LONGEST_TITLE

# Match code first, so that links in it are ignored.
_code_or_link = re.compile(
    r"(?P<fence>^ {0,3}(?P<mark>`{3,}|~{3,})[^\n]*\n(?:.*?^ {0,3}(?P=mark)[`~]*[ \t]*$|.*\Z))"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    rf"|\[\[(?:(?P<words>[^\[\]|\n]{{1,500}})\|)?(?P<title>[^\[\]|\n]{{1,{LONGEST_TITLE}}})\]\]",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a note. `words` is the text that the link shows, or "" if it shows the title."""

    title: str
    words: str = ""


def links_in(text: str) -> Iterator[Link]:
    for found in _code_or_link.finditer(text):
        if found["title"] is not None and title_key(found["title"]):
            yield Link(" ".join(found["title"].split()), (found["words"] or "").strip())


def linked_keys(text: str) -> list[str]:
    """Return the distinct keys of the titles to which a text links, in order."""
    return list(dict.fromkeys(title_key(link.title) for link in links_in(text)))


def with_links_to(text: str, old: str, new: str) -> str:
    """Change each link to the title `old` in the text into a link to the title `new`."""
    wanted = title_key(old)

    def renamed(found: re.Match[str]) -> str:
        if found["title"] is None or title_key(found["title"]) != wanted:
            return found[0]
        words = "" if found["words"] is None else f"{found['words']}|"
        return f"[[{words}{new}]]"

    return replace_links(text, renamed)


def replace_links(text: str, change: Callable[[re.Match[str]], str]) -> str:
    return _code_or_link.sub(change, text)
