"""Redacts credentials that a server repeats in its response, for example in an error about a key.

Servers repeat them in JSON, URLs and HTML. Each of these formats has several escapes for the same
character, so the unescaped text is searched too.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import unquote

SHORTEST = 6
"""Credentials shorter than this are not redacted, because they may occur by chance."""
SHOWN = "[hidden]"
MOST_LAYERS = 2
"""Up to this many levels of nested escapes, such as HTML in a JSON string, are decoded."""

MOST_CACHED = 1024
"""Up to this many decoded escapes of one kind are cached. Most texts repeat a few escapes many
times.
"""
SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "/": "/"}
"""Maps JSON escapes, without their backslash, to characters."""

_ascii = r"u00[0-7][0-9a-fA-F]"
_any = r"u[dD][89abAB][0-9a-fA-F]{2}\\{1,7}u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
_percent = re.compile(
    "%(?:[0-7][0-9a-f]|[c-f][0-9a-f](?:%[89ab][0-9a-f]){1,3})", re.IGNORECASE | re.ASCII
)
_html = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


@dataclass(frozen=True, slots=True)
class CredentialPatterns:
    """The texts to redact, and the patterns and decoders for escapes in them."""

    texts: frozenset[str] = field(repr=False)
    escapes: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]


def credential_patterns(credentials: Collection[str]) -> CredentialPatterns:
    long = [one for one in credentials if len(one) >= SHORTEST]
    # URLs may also have a plus in place of a space.
    texts = frozenset([*long, *(one.replace(" ", "+") for one in long)])
    json = (json_pattern("".join(texts)), from_json)
    return CredentialPatterns(texts, (json, (_percent, from_percent), (_html, from_html)))


def json_pattern(letters: str) -> re.Pattern[str]:
    """Return a pattern for JSON escapes of these characters only. A text may contain many other
    escapes, for example for quotation marks.

    JSON within JSON has more backslashes before an escape.
    """
    short = "".join(name for name, letter in SHORT.items() if letter in letters)
    coded = _ascii if letters.isascii() else _any
    one = rf"\\{{1,7}}(?:{f'[{short}]|' if short else ''}{coded})"
    return re.compile(rf"\\\\|{one}" if "\\" in letters else one)


@lru_cache(MOST_CACHED)
def from_json(escape: str) -> str:
    name = escape.lstrip("\\")
    if len(name) < len("u0000"):
        return SHORT.get(name, "\\")
    units = [int(unit.strip("\\"), 16) for unit in name.split("u")[1:]]
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "replace")


from_percent = lru_cache(MOST_CACHED)(unquote)
from_html = lru_cache(MOST_CACHED)(html.unescape)


def hide_credentials(text: str, wanted: CredentialPatterns) -> str:
    """Replace each credential in the text, with or without escapes."""
    parts, end = [], 0
    for start, stop in merge_ranges(sorted(find_credentials(text, wanted))):
        parts += [text[end:start], SHOWN]
        end = stop
    return "".join([*parts, text[end:]])


def find_credentials(
    text: str, wanted: CredentialPatterns, layers: int = MOST_LAYERS
) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each credential in the text, in any order."""
    for needle in wanted.texts:
        start = text.find(needle)
        while start >= 0:
            yield start, start + len(needle)
            start = text.find(needle, start + len(needle))
    for pattern, read in wanted.escapes if wanted.texts and layers else ():
        if pattern.search(text):
            plain = UnescapedText(text, pattern, read)
            for start, stop in find_credentials(plain.text, wanted, layers - 1):
                yield plain.original_position(start), plain.original_position(stop)


class UnescapedText:
    """A text with decoded escapes, which maps its positions to positions in the original text."""

    def __init__(self, escaped: str, pattern: re.Pattern[str], read: Callable[[str], str]) -> None:
        parts: list[str] = []
        self.ends: list[int] = []
        self.escaped_ends: list[int] = []
        length = end = 0
        for match in pattern.finditer(escaped):
            between, letter = escaped[end : match.start()], read(match[0])
            parts += (between, letter)
            length += len(between) + len(letter)
            end = match.end()
            self.ends.append(length)
            self.escaped_ends.append(end)
        self.text = "".join([*parts, escaped[end:]])

    def original_position(self, position: int) -> int:
        """Return the position in the original text for a position in the decoded text."""
        index = bisect_right(self.ends, position) - 1
        return position if index < 0 else self.escaped_ends[index] + position - self.ends[index]


def merge_ranges(sorted_ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Merge overlapping ranges. The ranges must be sorted."""
    last: tuple[int, int] | None = None
    for start, stop in sorted_ranges:
        if last and start < last[1]:
            last = last[0], max(last[1], stop)
            continue
        if last:
            yield last
        last = start, stop
    if last:
        yield last
