"""Texts of templates and scripts that a person reads, and that nobody can translate."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

SPOKEN = frozenset({"title", "aria-label", "aria-description", "placeholder", "alt"})
"""Attributes that are read or heard."""
NOT_READ = frozenset({"script", "style", "code", "kbd", "noframes"})
NAMES = frozenset({"QuickApps", "UTC"})
NOT_TEXT = ("block body_class", "block layout")
"""Blocks with names for styles and other templates."""
WORD = re.compile(r"[^\W\d_]{2,}")
SENTENCE = re.compile(r'"((?:[^"\\\n]|\\.)+)"(?!:)')
CODE = re.compile(r"[;{}<>=]")
COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", re.DOTALL)
GAP = "\0"
"""Stands for what is put in."""


class ReadTexts(HTMLParser):
    """Collects what a person reads of a page, or of a part of one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NOT_READ:
            self.open.append(tag)
        for name, value in attrs:
            if name in SPOKEN:
                self.collect(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open.remove(tag)

    def handle_data(self, data: str) -> None:
        if not self.open:
            self.collect(data)

    def collect(self, text: str) -> None:
        words = [one for one in WORD.findall(text) if one not in NAMES]
        if words:
            self.found.append(" ".join(text.replace(GAP, "…").split()))


def read_texts(page: str) -> list[str]:
    reader = ReadTexts()
    reader.feed(page)
    reader.close()
    return reader.found


def of_template(source: str) -> list[str]:
    """Return the texts of a template that are outside the translation tags."""
    kept: list[str] = []
    is_marked = False
    for token in Lexer(source).tokenize():
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            if token.contents in NOT_TEXT or name in ("blocktranslate", "comment"):
                is_marked = True
            elif name.startswith("end"):
                is_marked = False
            kept.append(GAP if name in ("translate", "include", "firstof") else "")
        elif is_marked or token.token_type == TokenType.COMMENT:
            continue
        elif token.token_type == TokenType.VAR:
            kept.append(GAP)
        else:
            kept.append(token.contents)
    return read_texts("".join(kept))


def of_script(source: str) -> list[str]:
    """Return the texts in the HTML of a script, and its quoted sentences outside `gettext`."""
    code = COMMENT.sub("", source)
    marked = re.sub(
        r'\bn?gettext\(\s*"(?:[^"\\]|\\.)*"(?:,\s*"(?:[^"\\]|\\.)*")?', "gettext(", code
    )
    return [
        *(text for page in html_of(marked) for text in read_texts(page)),
        *(text for text in SENTENCE.findall(marked) if is_sentence(text)),
    ]


def is_sentence(text: str) -> bool:
    """A capital letter first, and then more than one word."""
    is_prose = text[:1].isupper() and " " in text.strip() and not CODE.search(text)
    return is_prose and re.search(r"[a-z]{2}", text) is not None


def html_of(code: str) -> Iterator[str]:
    """The templates of Lit in a script, also those within others, without what is put in."""
    for start in re.finditer(r"(?<![.\w])(?:html|svg)`", code):
        yield literal(code, start.end())


def literal(code: str, at: int) -> str:
    """The text of a template literal from its first character on."""
    text = ""
    while at < len(code) and code[at] != "`":
        if code.startswith("${", at):
            at = after_expression(code, at + 2)
            text += GAP
        else:
            text += code[at]
            at += 2 if code[at] == "\\" else 1
    return text


def after_expression(code: str, at: int) -> int:
    """The place behind the brace that ends an expression of a template literal."""
    depth = 1
    while at < len(code) and depth:
        match code[at]:
            case "{":
                depth += 1
            case "}":
                depth -= 1
            case "`":
                at = after_literal(code, at + 1) - 1
            case '"' | "'" as quote:
                at = code.find(quote, at + 1)
            case _:
                pass
        at += 1
    return at


def after_literal(code: str, at: int) -> int:
    while at < len(code) and code[at] != "`":
        if code.startswith("${", at):
            at = after_expression(code, at + 2)
        else:
            at += 2 if code[at] == "\\" else 1
    return at + 1
