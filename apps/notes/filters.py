"""Parses note filters, and converts them to database conditions.

A filter contains words, `tag:x`, `title:x`, `field:x=y` and `modified>2026-11-01`; `-` negates the
condition that follows it. A note must match all conditions. The equivalent TiddlyWiki filters are
supported: `[tag[x]]`, `[title[x]]`, `[search[x]]`, `[[x]]`, and `!` to negate.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import and_

from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.lookups import Exact, IsNull
from django.utils.translation import gettext

from apps.datetimes import read_datetime
from apps.notes.content import storable_text, title_key
from apps.notes.errors import NoteRefused
from apps.notes.models import NoteTag
from apps.notes.word_index import containing

EXAMPLE = "2026-11-01"
LONGEST = 1_000
MOST_TERMS = 20
UNDERSTOOD = (
    "words, tag:x, title:x, field:name=value, modified>2026-11-01, modified<2026-11-01, "
    "- before any of them, [tag[x]], [title[x]], [search[x]]"
)
EVERYTHING = frozenset({"all[tiddlers]", "all[]", "is[tiddler]", "!is[system]", "!is[shadow]"})
"""The steps of TiddlyWiki filters that match every note."""

_value = r'(?:"(?P<{0}_quoted>[^"]*)"|(?P<{0}>\S+))'
_term = re.compile(
    r"(?P<not>-|!)?(?:"
    r"\[\[(?P<exact>[^\[\]]+)\]\]"
    r"|\[(?P<steps>(?:!?[\w:-]*\[[^\[\]]*\])+)\]"
    rf"|(?P<key>tag|title):{_value.format('value')}"
    r"|field:(?P<name>[A-Za-z][\w.-]*)(?:=(?:"
    + r'"(?P<field_quoted>[^"]*)"|(?P<field>\S*)'
    + r"))?"
    r"|modified(?P<sign>[<>]=?)(?P<moment>\S+)"
    r'|"(?P<phrase>[^"]+)"'
    r"|(?P<word>\S+))"
    r"(?:\s+|$)"
)
_step = re.compile(r"(?P<not>!)?(?P<operator>[\w:-]*)\[(?P<operand>[^\[\]]*)\]")


@dataclass(frozen=True, slots=True)
class Term:
    """A condition in a filter."""

    kind: str
    value: str | None
    """The value to match, or None for any value."""
    name: str = ""
    """The name of a note's field, for the kind "field"."""
    is_not: bool = False


def condition(filter: str) -> Q:
    """Return the filter as a database condition. An empty filter matches all notes. Raises
    `NoteRefused` if the filter is invalid.
    """
    terms = parse(filter)
    return reduce(and_, map(condition_of, terms), Q())


def parse(filter: str) -> list[Term]:
    """Parse a filter into its conditions. Raises `NoteRefused` if the filter is invalid."""
    text = storable_text(filter).strip()
    if len(text) > LONGEST:
        raise refusal_error(f"it has {len(text):,} characters; the limit is {LONGEST:,}.")
    # Every text is valid, because a part that is not a condition is a word.
    found = [term for part in _term.finditer(text) for term in terms_of(part)]
    if len(found) > MOST_TERMS:
        raise refusal_error(
            gettext("the filter has {count} conditions; the limit is {limit}.").format(
                count=len(found), limit=MOST_TERMS
            )
        )
    return found


def terms_of(part: re.Match[str]) -> Iterator[Term]:
    is_not = part["not"] is not None
    if part["exact"] is not None:
        yield Term("exact", part["exact"], is_not=is_not)
    elif part["steps"] is not None:
        yield from steps_of(part["steps"], is_not=is_not)
    elif part["key"] is not None:
        yield Term(part["key"], parse_part(part, "value"), is_not=is_not)
    elif part["name"] is not None:
        yield Term("field", parse_part(part, "field"), part["name"], is_not)
    elif part["sign"] is not None:
        yield Term(f"modified{part['sign']}", part["moment"], is_not=is_not)
    else:
        yield Term("word", part["phrase"] or part["word"], is_not=is_not)


def parse_part(part: re.Match[str], name: str) -> str | None:
    quoted = part[f"{name}_quoted"]
    plain: str | None = part[name]
    return plain if quoted is None else quoted


def steps_of(written: str, *, is_not: bool) -> Iterator[Term]:
    """Yield the conditions in a TiddlyWiki filter. Raises `NoteRefused` if a step is not supported,
    or if the whole filter is negated (`is_not`).
    """
    for step in _step.finditer(written):
        if step[0] in EVERYTHING:
            continue
        kind = {"tag": "tag", "title": "exact", "": "exact", "search": "word"}.get(step["operator"])
        if kind is None or is_not:
            raise refusal_error(
                gettext("Unknown filter: {step}. Use {understood}.").format(
                    step=repr(step[0][:60]), understood=UNDERSTOOD
                )
            )
        yield Term(kind, step["operand"], is_not=step["not"] is not None)


def condition_of(term: Term) -> Q:
    found = positive(term)
    return ~found if term.is_not else found


def positive(term: Term) -> Q:
    value = term.value or ""
    match term.kind:
        case "tag":
            return Q(pk__in=NoteTag.objects.filter(key=title_key(value)).values("note"))
        case "title":
            return Q(key__contains=title_key(value))
        case "exact":
            return Q(key=title_key(value))
        case "field":
            return field_condition(term.name, term.value)
        case "word":
            return containing(value)
        case _:
            return moment_condition(term.kind.removeprefix("modified"), value)


def field_condition(name: str, value: str | None) -> Q:
    found = KeyTextTransform(name, "fields")
    is_there = Q(IsNull(found, False))
    # The negated comparison would otherwise be NULL for notes without this field.
    return is_there if value is None else is_there & Q(Exact(found, value))


def moment_condition(sign: str, written: str) -> Q:
    """Return the database condition for a comparison with the time of the last change.

    A date means the whole day in UTC: `>` means after its end, and `<` means before its beginning.
    Raises `NoteRefused` if the date is invalid.
    """
    begin, end = moments(written)
    match sign:
        case ">":
            return Q(modified_at__gte=end)
        case ">=":
            return Q(modified_at__gte=begin)
        case "<":
            return Q(modified_at__lt=begin)
        case _:
            return Q(modified_at__lt=end)


def moments(written: str) -> tuple[datetime, datetime]:
    """Return the beginning and the exclusive end of a date in UTC. If the text includes a time, the
    two are a microsecond apart. Raises `NoteRefused` if the date is invalid.
    """
    try:
        if len(written) <= 10:
            day = read_datetime(written, example=EXAMPLE)
            return day, day + timedelta(days=1)
        moment = read_datetime(written, example=EXAMPLE)
        return moment, moment + timedelta(microseconds=1)
    except ValueError as error:
        raise refusal_error(str(error)) from None


def refusal_error(text: str) -> NoteRefused:
    return NoteRefused("filter", text)
