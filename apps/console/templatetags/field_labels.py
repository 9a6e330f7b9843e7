"""Defines template filters for the paths and values of changed fields."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django import template
from django.core.exceptions import FieldDoesNotExist
from django.utils.text import capfirst

from apps.console.manifest_editor.form_schema import split_words

register = template.Library()

WHOLE = "$"
"""The path of the whole document."""


@register.filter
def field_label(path: str, opts: Any) -> str:
    """Return the path of a difference in words, such as "Tool sets 1" for `manifest.tool_sets[0]`.
    `opts` is the `_meta` of the model.

    Names in quotes and names of predefined items, such as `skill tone`, are not split.
    """
    if path == WHOLE:
        return "All fields"
    steps: list[str] = []
    for name, index, quoted in _step.findall(path.removeprefix("manifest.")):
        if index and steps:
            steps[-1] += f" {int(index) + 1}"
        elif quoted:
            steps.append(json.loads(quoted))
        elif " " in name:
            steps.append(capfirst(name))
        else:
            steps.append(split_words(name if steps else column_name(name, opts)))
    return " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} ".join(steps)


@register.filter
def value_words(text: str) -> str:
    """Return a value in JSON as lines such as "Title: Where is my parcel?" if it is an object or a
    list, or else unchanged.
    """
    try:
        value = json.loads(text)
    except ValueError:  # plain text, or a truncated value
        return text
    return "\n".join(value_lines(value)) if value and isinstance(value, dict | list) else text


def value_lines(value: Any) -> Iterator[str]:
    """Yield the lines of an object or a list. Nested values are indented."""
    items: Iterable[tuple[str, Any]] = (
        ((f"{split_words(key)}:", one) for key, one in value.items())
        if isinstance(value, dict)
        else (("\N{BULLET}", one) for one in value)
    )
    for name, one in items:
        if one and isinstance(one, dict | list):
            yield name
            yield from (f"  {line}" for line in value_lines(one))
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


_step = re.compile(r'([^.\[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
