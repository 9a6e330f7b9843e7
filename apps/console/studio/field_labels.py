"""Names the fields of an application in words: by section, list item and field.

The studio's scripts get the same tables in the data of the page.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.text import capfirst

from apps.catalog.content.installed import installed_content
from apps.console.manifest_editor.form_schema import split_words
from apps.console.studio.sections import (
    ALL_FIELDS,
    COLUMNS,
    ITEMS,
    LABELS,
    NAMED,
    PARAMETER,
    PARAMETERS,
    SECTIONS,
    section_of,
)
from apps.console.studio.tool_cards import shown_name, toolset_title
from apps.manifest.problems import ROOT
from apps.manifest.toolsets.kinds import KINDS

STEP = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
"""Separates the section, the item and the field in a label."""

Part = str | int
"""A key or an index in a path."""


def labels_data() -> dict[str, Any]:
    """Return the titles and paths of the sections and the labels of the fields, for the studio's
    scripts.
    """
    columns = {f"({name})": label for name, (_, label) in COLUMNS.items()}
    sections = {name: {"title": one.title, "paths": one.paths} for name, one in SECTIONS.items()}
    return {"sections": sections, "fields": {**columns, **LABELS}}


def application_label(path: str, items: Sequence[Any] = ()) -> str:
    """Return the label of a part of an application. The path starts with a column, such as
    `manifest`, or with a skill, such as `skill tone`. `items` contains the list items on the path.
    """
    first, *rest = split_path(path) or [ROOT]
    if first == ROOT:
        return ALL_FIELDS
    if first == "manifest" and rest:
        steps = manifest_steps(rest, items)
    elif first == "skills":
        steps = [SECTIONS["skills"].title, *map(str, rest)]
    elif str(first).startswith("skill "):
        steps = [SECTIONS["skills"].title, str(first).removeprefix("skill "), *map(str, rest)]
    elif first in COLUMNS:
        section, label = COLUMNS[str(first)]
        steps = with_words([SECTIONS[section].title, label], rest)
    else:
        steps = with_words([], [capfirst(str(first)), *rest])
    return STEP.join(steps)


def finding_label(path: str, manifest: Any) -> str:
    """Return the label of the path of a finding: a path in the manifest, a column in parentheses,
    or the path of a skill's file.
    """
    if path.startswith("skills/"):
        return STEP.join([SECTIONS["skills"].title, *path.split("/")[1:]])
    if path in ("", ROOT):
        return ALL_FIELDS
    if path.startswith("("):
        return application_label(path.strip("()"))
    return STEP.join(manifest_steps(split_path(path), items_on_path(path, manifest)))


def manifest_steps(parts: Sequence[Part], items: Sequence[Any]) -> list[str]:
    """Return the section, the names of list items, and the field of a path in the manifest. Parts
    of the path without a label are steps in words.
    """
    section = section_of(pattern(parts))
    if section is None:
        return with_words([], parts)
    steps = [section.title]
    labels = field_labels(items)
    known, label = 0, ""
    left = list(items)
    for end in range(1, len(parts) + 1):
        part, place = parts[end - 1], pattern(parts[:end])
        item = left.pop(0) if isinstance(part, int) and left else None
        if place in NAMED:
            known, label = end, ""
            steps += item_name(place, part, item)
        elif place in labels:
            known, label = end, labels[place]
    return with_words([*steps, label] if label else steps, parts[known:])


def field_labels(items: Sequence[Any]) -> dict[str, str]:
    """Return the labels of all fields. `items` contains the list items on a path. If the first is a
    toolset, its kind adds the labels of its own fields.
    """
    kind = KINDS.get(str(items[0].get("type"))) if items and isinstance(items[0], dict) else None
    card = kind.kind.card if kind is not None else ()
    return LABELS | {f"tool_sets[].{one.path}": one.label for one in card if one.label}


def key_words(parts: Sequence[Part], labels: Mapping[str, str]) -> str:
    """Return the label of the last key of a path, or else the key in words."""
    place, key = pattern(parts), str(parts[-1])
    return key if place == PARAMETER else labels.get(place) or split_words(key)


def item_name(place: str, part: Part, item: Any) -> list[str]:
    """Return the name of an object as the step of a label, or [] if it has none."""
    if place in ITEMS:
        return [f"{ITEMS[place]} {int(part) + 1}"]
    if place == PARAMETER:
        return [f"Parameter {part}"]
    if place == "tool_sets[]":
        return [toolset_name(item) or f"Toolset {int(part) + 1}"]
    return [tool_name(item) or f"Tool {int(part) + 1}"] if isinstance(part, int) else []


def toolset_name(item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    is_predefined = item.get("type") == "predefined"
    name = shown_name(item, installed_content()) if is_predefined else toolset_title(item)
    return name or str(item.get("type") or "")


def tool_name(item: Any) -> str:
    written = item if isinstance(item, dict) else {}
    told = written.get("open_ai_tool")
    function = told.get("function") if isinstance(told, dict) else None
    named = function.get("name") if isinstance(function, dict) else None
    names = (named, *(written.get(key) for key in ("template_name", "deployment_id", "name")))
    return next((name for name in names if name and isinstance(name, str)), "")


def items_on_path(path: str, document: Any) -> list[Any]:
    """Return the list items on a path in a document, with None for those that do not exist."""
    found = []
    for part in split_path(path):
        if isinstance(part, int):
            is_there = isinstance(document, list) and part < len(document)
            document = document[part] if is_there else None
            found.append(document)
        else:
            document = document.get(part) if isinstance(document, Mapping) else None
    return found


def with_words(steps: Sequence[str], parts: Sequence[Part]) -> list[str]:
    """Return the steps of a label and the parts of a path in words, such as "Tool sets 1" for
    `tool_sets[0]`. Keys that are not names of fields are not changed.
    """
    found = [*steps]
    for part in parts:
        if isinstance(part, int):
            found[-1:] = [" ".join([*found[-1:], str(part + 1)])]
        else:
            found.append(split_words(part) if is_name(part) else part)
    return found


_part = re.compile(r'([^.\[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')
is_name = re.compile(r"[A-Za-z_][\w-]*", re.ASCII).fullmatch


def split_path(path: str) -> list[Part]:
    """Split a path such as `tool_sets[2].tools[0]["odd key"]` into keys and indices."""
    return [
        json.loads(quoted) if quoted else int(index) if index else name
        for name, index, quoted in _part.findall(path)
    ]


def pattern(parts: Sequence[Part]) -> str:
    """Return a path as in `LABELS`, such as `tool_sets[].tools[].name`."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += "[]"
        else:
            name = "*" if path.endswith(f".{PARAMETERS}") else part
            path = f"{path}.{name}" if path else name
    return path
