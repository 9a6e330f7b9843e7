"""Data for the pages of predefined content: entries of the list, and the layers of one item."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict

from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.catalog.content.previews import difference
from apps.catalog.content.review import problems_by_item
from apps.catalog.history.line_differences import Line
from apps.catalog.models import Application as ApplicationRow
from apps.catalog.uses import NOBODY, Reference, ReferringApplication, Uses, uses_of

STATES: Mapping[str, str] = {"broken": "Broken", "replaced": "In several layers", "row": "Edited"}

Stack = tuple[Item, ...]
"""An item in all its layers, the one in force last."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`layer` is the title of the layer in force, `layers` their number."""

    item: Item
    layer: str
    layers: int
    problems: tuple[str, ...]
    uses: Uses


@dataclass(frozen=True, slots=True)
class Layer:
    """`lines` are the differences from the layer below, None for the lowest."""

    item: Item
    title: str
    in_force: bool
    lines: list[Line] | None


def filtered_stacks(content: Content, filters: QueryDict) -> list[Stack]:
    """The items that match `kind`, `state` and `q`, a part of the name."""
    kind, state, words = (filters.get(name, "").strip() for name in ("kind", "state", "q"))
    broken = problems_by_item(content)
    return [
        stack
        for of, named in content.stacks.items()
        if kind in ("", of)
        for name, stack in named.items()
        if words.lower() in name.lower() and has_state(stack, state, (of, name) in broken)
    ]


def has_state(stack: Stack, state: str, is_broken: bool) -> bool:
    match state:
        case "broken":
            return is_broken
        case "replaced":
            return len(stack) > 1
        case "row":
            return stack[-1].is_row
        case _:
            return True


def entries(
    content: Content, stacks: Iterable[Stack], applications: QuerySet[ApplicationRow]
) -> list[Entry]:
    broken, uses = problems_by_item(content), all_uses(content, applications)
    return [
        Entry(
            item=stack[-1],
            layer=title_of(content, stack[-1]),
            layers=len(stack),
            problems=broken.get((stack[-1].kind, stack[-1].name), ()),
            uses=uses.get(Reference(stack[-1].kind, stack[-1].name), NOBODY),
        )
        for stack in stacks
    ]


def all_uses(content: Content, applications: QuerySet[ApplicationRow]) -> dict[Reference, Uses]:
    """The users of the items among some applications, and among items."""
    rows = applications.values_list("pk", "title", "manifest")
    return uses_of(content, (ReferringApplication(*row) for row in rows.iterator()))


def title_of(content: Content, item: Item) -> str:
    if item.is_row:
        return "database"
    return "built in" if item.layer == str(content.layers[0]) else item.layer


def layers_of(content: Content, stack: Stack) -> list[Layer]:
    """The layer in force first."""
    found = [
        Layer(
            item,
            title_of(content, item),
            item is stack[-1],
            difference(lower, item) if lower is not None else None,
        )
        for lower, item in zip((None, *stack), stack, strict=False)
    ]
    return found[::-1]
