"""Converts web pages to Markdown, within limits on time and memory, because pages may be malicious."""

import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

from apps.documents.paged_text import PagePart

MOST_CHARACTERS = 500_000
"""The maximum number of characters that are read from a web page, not counting scripts and styles.
"""
DEEPEST = 100
"""The maximum number of nested elements. A page with more is converted to plain text."""
UNREAD = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas",
    "nav", "form", "button", "head",
)  # fmt: skip
"""The HTML elements that contain no readable text."""
HEAVY = ("script", "style", "svg")
"""The HTML elements that can be large, and are removed before the page is parsed."""

_tag = re.compile(r"<[^<>]*>")
_gap = re.compile(r"\s{50,}")
_blank_lines = re.compile(r"\n(?:[ \t]*\n){2,}")


def parts(content: BytesIO, order: dict[str, Any]) -> Iterator[PagePart]:
    yield PagePart(markdown_of(content.getvalue().decode("utf-8", "replace"), order["base_url"]))


def markdown_of(text: str, base_url: str = "") -> str:
    """Return a page's readable text as Markdown, with absolute links."""
    for name in HEAVY:
        text = without_element(text, name)
    more = "\n\n[cut: the rest is left out, because the page is too long]"
    more = more if len(text) > MOST_CHARACTERS else ""
    text = text[:MOST_CHARACTERS]
    soup = BeautifulSoup(text, "lxml")
    title = tidy(soup.title.get_text(" ", strip=True)) if soup.title is not None else ""
    for element in soup.find_all(UNREAD):
        element.extract()
    close_gaps(soup)
    if depth(soup) > DEEPEST:
        body = without_tags(text)
    else:
        complete_links(soup, base_url)
        converter = MarkdownConverter(heading_style=ATX, bullets="-")
        body = str(converter.convert_soup(soup))
    body = f"{tidy(body)}{more}"
    return f"# {title}\n\n{body}" if title and title not in body[: 2 * len(title) + 200] else body


def without_element(text: str, name: str) -> str:
    """Return the HTML without the elements with this name. After an unclosed element, the rest of
    the page is removed.
    """
    opening = re.compile(rf"<{name}\b", re.IGNORECASE)
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE)
    kept, position = [], 0
    while begun := opening.search(text, position):
        kept.append(text[position : begun.start()])
        ended = closing.search(text, begun.end())
        if ended is None:
            return "".join(kept)
        position = ended.end()
    return "".join((*kept, text[position:]))


def without_tags(text: str) -> str:
    """Return the text of a web page without tags and blank lines, for a page that is nested too
    deeply for the converter.
    """
    return "\n".join(line for line in unescape(_tag.sub("\n", text)).splitlines() if line.strip())


def close_gaps(soup: BeautifulSoup) -> None:
    # The converter takes quadratic time for long whitespace.
    for text in soup.find_all(string=_gap):
        text.replace_with(_gap.sub(lambda gap: "\n" if "\n" in gap[0] else " ", str(text)))


def depth(soup: BeautifulSoup) -> int:
    """Return the nesting depth of a web page's elements. Counting stops above `DEEPEST`."""
    level: list[Tag] = [soup]
    deepest = 0
    while level and deepest <= DEEPEST:
        level = [child for parent in level for child in parent.children if isinstance(child, Tag)]
        deepest += 1
    return deepest


def complete_links(soup: BeautifulSoup, base_url: str) -> None:
    """Make a web page's links absolute, and remove links to inline data and scripts."""
    for name, attribute in (("a", "href"), ("img", "src")):
        for element in soup.find_all(name):
            address = str(element.get(attribute) or "").strip()
            if address.lower().startswith(("data:", "javascript:")):
                del element[attribute]
            elif address and base_url:
                element[attribute] = join_url(base_url, address)


def join_url(base_url: str, address: str) -> str:
    try:
        return urljoin(base_url, address)
    except ValueError:
        return address


def tidy(markdown: str) -> str:
    lines = (line.rstrip() for line in markdown.splitlines())
    return _blank_lines.sub("\n\n", "\n".join(lines)).strip()
