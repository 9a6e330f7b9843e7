"""Defines template filters for the paths and values of changed fields."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import template
from django.core.exceptions import FieldDoesNotExist
from django.utils.text import capfirst

from apps.catalog.history.display import RenderedDifference
from apps.catalog.models import Application
from apps.console.manifest_editor.form_schema import split_words
from apps.console.studio.field_labels import (
    STEP,
    Part,
    application_label,
    field_labels,
    key_words,
    split_path,
    with_words,
)
from apps.console.studio.sections import ALL_FIELDS
from apps.manifest.problems import ROOT

register = template.Library()


@register.filter
def field_label(changed: Any, opts: Any) -> str:
    """Return the label of the field of a difference or conflict. `opts` is the `_meta` of the
    model.
    """
    if opts.model is Application:
        return application_label(changed.path, changed.items)
    return row_label(changed.path, opts)


def row_label(path: str, opts: Any) -> str:
    """Return the label of a part of a row, with the name of its column first."""
    if path == ROOT:
        return ALL_FIELDS
    first, *rest = split_path(path)
    column = str(first)
    is_item = " " in column  # such as `prompt tone`
    words = capfirst(column) if is_item else split_words(column_name(column, opts))
    return STEP.join(with_words([words], rest))


@register.filter
def value_words(difference: RenderedDifference, side: str) -> str:
    """Return the value before or after a difference. An object or a list becomes lines such as
    "Question: Where is my parcel?".
    """
    text: str = getattr(difference, side)
    try:
        value = json.loads(text)
    except ValueError:  # plain text, or a truncated value
        return text
    if not value or not isinstance(value, dict | list):
        return text
    first, *rest = split_path(difference.path)
    labels = field_labels(difference.items) if first == "manifest" else {}
    return "\n".join(value_lines(value, rest, labels))


def value_lines(value: Any, place: Sequence[Part], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the object or list at a path. Nested values are indented."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in items:
        parts = [*place, key]
        name = "\N{BULLET}" if isinstance(value, list) else f"{key_words(parts, labels)}:"
        if one and isinstance(one, dict | list):
            yield name
            yield from (f"  {line}" for line in value_lines(one, parts, labels))
        else:
            first, *rest = plain_words(one).splitlines() or [""]
            yield f"{name} {first}".rstrip()
            yield from (f"  {line}" for line in rest)


def plain_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value in ({}, []):
        return "nothing"
    return str(value)


def column_name(column: str, opts: Any) -> str:
    try:
        return str(opts.get_field(column).verbose_name)
    except (AttributeError, FieldDoesNotExist):
        return column
