"""The catalogues: what the sources say, and what is kept of it in a language."""

import ast
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
LOCALE = ROOT / "quickapps_site" / "locale"
DOMAINS = ("django", "djangojs")
PYTHON = ("apps", "quickapps_site")
TEMPLATES = ("templates",)
SCRIPTS = ("apps/chat/static/chat/scripts", "apps/console/static/console/palette.js")
KEYWORDS = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
STRING = r"""u?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
CALL = re.compile(rf"\b(n?p?gettext|_)\(\s*({STRING}(?:\s*,\s*{STRING})*)")
"""A call with literal texts, in a script or in what Django makes of a template."""
HEADER = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Language: {language}\\n"
"Plural-Forms: {plurals}\\n"

"""
"""Without dates, by which every run would be a change."""


class MarkedText(NamedTuple):
    text: str
    plural: str = ""
    context: str = ""


def files_below(places: tuple[str, ...], *endings: str) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (one for one in found if one.suffix in endings)


def of_python(source: str) -> Iterator[MarkedText]:
    if "gettext" not in source:  # saves reading its tokens
        return
    for _, texts, _, context in extract("python", BytesIO(source.encode()), KEYWORDS):
        one, many = texts[:2] if isinstance(texts, tuple) else (texts, "")
        yield MarkedText(one, many, context or "")


def of_calls(source: str) -> Iterator[MarkedText]:
    """Of a script, or of a template that was made one."""
    for called, given in CALL.findall(source):
        texts = [ast.literal_eval(one) for one in re.findall(STRING, given)]
        context = texts.pop(0) if "p" in called else ""
        many = texts[1] if called.startswith("n") else ""
        yield MarkedText(texts[0], many, context)


def sources(domain: str) -> Iterator[tuple[Path, Iterator[MarkedText]]]:
    if domain == "djangojs":
        for path in files_below(SCRIPTS, ".js"):
            yield path, of_calls(path.read_text("utf-8"))
        return
    for path in files_below(PYTHON, ".py"):
        yield path, of_python(path.read_text("utf-8"))
    for path in files_below(TEMPLATES, ".html", ".txt"):
        yield path, of_calls(templatize(path.read_text("utf-8")))


@cache
def extracted(domain: str) -> Catalog:
    """All texts of the sources, with the files that say them."""
    found = Catalog(charset="utf-8", fuzzy=False)
    for path, messages in sources(domain):
        for text, plural, context in messages:
            known = found.get(text, context or None)
            places = [*(known.locations if known else ()), (str(path.relative_to(ROOT)), None)]
            found.add((text, plural) if plural else text, None, places, context=context or None)
    return found


def po_file(language: str, domain: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / f"{domain}.po"


def read(language: str, domain: str) -> Catalog:
    with po_file(language, domain).open("rb") as file:
        return read_po(file, locale=language)


def compiled(catalogue: Catalog) -> bytes:
    out = BytesIO()
    # Without them, the moment of reading would be part of it.
    catalogue.creation_date = catalogue.revision_date = LONG_AGO
    write_mo(out, catalogue)
    return out.getvalue()


def merged(language: str, domain: str) -> Catalog:
    """The texts of the sources with what is kept of their translations."""
    kept = {}
    if po_file(language, domain).exists():
        kept = {(one.id, one.context): one.string for one in read(language, domain) if one.id}
    made = Catalog(locale=language, charset="utf-8", fuzzy=False)
    for one in extracted(domain):
        if one.id:
            made.add(one.id, kept.get((one.id, one.context)), one.locations, context=one.context)
    return made


def written(catalogue: Catalog) -> bytes:
    """As a file: one line for each text, in alphabetical order."""
    out = BytesIO()
    write_po(out, catalogue, width=0, sort_output=True, include_lineno=False, omit_header=True)
    header = HEADER.format(language=catalogue.locale, plurals=catalogue.plural_forms)
    return header.encode() + out.getvalue()


def bring_up_to_date(language: str) -> int:
    """Write and compile the catalogs of a language; how many texts are not translated."""
    missing = 0
    for domain in DOMAINS:
        made = written(merged(language, domain))
        path = po_file(language, domain)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made)
        kept = read(language, domain)
        path.with_suffix(".mo").write_bytes(compiled(kept))
        missing += len(untranslated(kept))
    return missing


def compile_english() -> None:
    """Compile the English catalog, which rewords texts of libraries."""
    path = po_file("en", "django")
    path.with_suffix(".mo").write_bytes(compiled(read("en", "django")))


def untranslated(catalogue: Catalog) -> list[Message]:
    """In at least one of their forms."""
    messages = (one for one in catalogue if one.id)
    return [one for one in messages if one.fuzzy or not all(forms(one.string))]


def forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text or "",) if text is None or isinstance(text, str) else tuple(text)
