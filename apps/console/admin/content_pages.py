"""What the pages of predefined content show: all items by layers, and one of them in detail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.http import QueryDict

from apps.catalog.content.items import Item, Kind
from apps.catalog.content.layers import Content
from apps.catalog.content.previews import difference
from apps.catalog.content.review import problems_by_item
from apps.catalog.history.differences import Line
from apps.catalog.models import Application as ApplicationRow
from apps.catalog.uses import NOBODY, Reference, ReferringApplication, Uses, uses_of

PER_PAGE = 50
STATES: Mapping[str, str] = {"broken": "Broken", "replaced": "In several layers", "row": "Edited"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One item in the list. `layer` says where what is in force is from."""

    item: Item
    layer: str
    layers: int
    problems: tuple[str, ...]
    uses: Uses


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of an item, and how it differs from the one below it, None for the lowest."""

    item: Item
    title: str
    in_force: bool
    lines: list[Line] | None


def entries(content: Content, asked: QueryDict) -> list[tuple[Item, tuple[Item, ...]]]:
    """The items that fit the filters `kind`, `state` and `q`, each with all its layers."""
    kind, state, words = (asked.get(name, "").strip() for name in ("kind", "state", "q"))
    broken = problems_by_item(content)
    return [
        (stack[-1], stack)
        for of, named in content.stacks.items()
        if kind in ("", of)
        for name, stack in named.items()
        if words.lower() in name.lower() and has_state(stack, state, (of, name) in broken)
    ]


def has_state(stack: tuple[Item, ...], state: str, is_broken: bool) -> bool:
    match state:
        case "broken":
            return is_broken
        case "replaced":
            return len(stack) > 1
        case "row":
            return stack[-1].is_row
        case _:
            return True


def shown(
    content: Content, page: list[tuple[Item, tuple[Item, ...]]], uses: Mapping[Reference, Uses]
) -> Iterator[Entry]:
    broken = problems_by_item(content)
    for item, stack in page:
        yield Entry(
            item,
            title_of(content, item),
            len(stack),
            broken.get((item.kind, item.name), ()),
            uses.get(Reference(item.kind, item.name), NOBODY),
        )


def all_uses(content: Content) -> dict[Reference, Uses]:
    rows = ApplicationRow.objects.values_list("pk", "title", "manifest")
    return uses_of(content, (ReferringApplication(*row) for row in rows.iterator()))


def title_of(content: Content, item: Item) -> str:
    if item.is_row:
        return "database"
    return "built in" if item.layer == str(content.layers[0]) else item.layer


def layers_of(content: Content, stack: tuple[Item, ...]) -> list[Layer]:
    """The highest first."""
    below: tuple[Item | None, ...] = (None, *stack)
    found = [
        Layer(
            item,
            title_of(content, item),
            item is stack[-1],
            difference(lower, item) if lower is not None else None,
        )
        for lower, item in zip(below, stack, strict=False)
    ]
    return found[::-1]


def deployments_of(kind: Kind, name: str) -> tuple[str, ...]:
    """The deployments that a prompt is meant for."""
    return settings.CONFIG_PROMPT_MAPPING.get(name, ()) if kind == "prompt" else ()
