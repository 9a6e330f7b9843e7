"""Defines a template filter for the paths of changed fields."""

import json
import re
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


def column_name(column: str, opts: Any) -> str:
    try:
        return str(opts.get_field(column).verbose_name)
    except (AttributeError, FieldDoesNotExist):
        return column


_step = re.compile(r'([^.\[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
