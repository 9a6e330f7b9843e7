"""Prepares the data for the admin pages of predefined content. The layers of an item are its
definitions in the built-in content, in configured directories and in the database.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import QueryDict

from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.content.previews import item_difference
from apps.catalog.content.review import problems_by_item
from apps.catalog.content.skills import usable_skill
from apps.catalog.content.titles import title_of
from apps.catalog.history.differences import Line
from apps.catalog.models import Application as ApplicationRow
from apps.catalog.uses import NOBODY, ItemReference, ReferringApplication, Uses, uses_of

STATES: Mapping[str, str] = {"broken": "Broken", "replaced": "In several layers", "row": "Edited"}

Stack = tuple[LayerItem, ...]
"""The definitions of a predefined item in all layers. The last one takes effect."""


@dataclass(frozen=True, slots=True)
class LayeredItem:
    """A row in the list of predefined content."""

    item: LayerItem
    layer: str
    """The title of the layer whose definition takes effect."""
    layers: int
    """The number of layers that define the item."""
    problems: tuple[str, ...]
    uses: Uses

    @property
    def title(self) -> str:
        return title_of(self.item)

    @property
    def required_tools(self) -> tuple[str, ...]:
        return required_tools(self.item)


@dataclass(frozen=True, slots=True)
class ItemLayer:
    """The definition of a predefined item in one layer."""

    item: LayerItem
    title: str
    in_force: bool
    lines: list[Line] | None
    """The differences from the definition that this one overrides, or None if it overrides none."""


def required_tools(item: LayerItem) -> tuple[str, ...]:
    """Return the tools that a skill requires, or () for other kinds of items. Applications without
    these tools do not offer the skill to their models.
    """
    found = usable_skill(item) if item.kind == "skill" else None
    return () if found is None else found.document.required_tools


def filtered_stacks(content: Content, filters: QueryDict) -> list[Stack]:
    """Return the items that match the filters `kind`, `state` and `q` (a substring of the name or
    title).
    """
    kind, state, words = (filters.get(name, "").strip() for name in ("kind", "state", "q"))
    broken = problems_by_item(content)
    return [
        stack
        for of, named in content.stacks.items()
        if kind in ("", of)
        for name, stack in named.items()
        if words.lower() in f"{name}\n{title_of(stack[-1])}".lower()
        and has_state(stack, state, (of, name) in broken)
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


def layer_entries(
    content: Content, stacks: Iterable[Stack], applications: QuerySet[ApplicationRow]
) -> list[LayeredItem]:
    broken, uses = problems_by_item(content), all_uses(content, applications)
    return [
        LayeredItem(
            item=stack[-1],
            layer=item_title(content, stack[-1]),
            layers=len(stack),
            problems=broken.get((stack[-1].kind, stack[-1].name), ()),
            uses=uses.get(ItemReference(stack[-1].kind, stack[-1].name), NOBODY),
        )
        for stack in stacks
    ]


def all_uses(content: Content, applications: QuerySet[ApplicationRow]) -> dict[ItemReference, Uses]:
    """Map each predefined item to the applications and predefined items that use it."""
    rows = applications.values_list("pk", "title", "manifest")
    return uses_of(content, (ReferringApplication(*row) for row in rows.iterator()))


def item_title(content: Content, item: LayerItem) -> str:
    if item.is_row:
        return "database"
    return "built in" if item.layer == str(content.layers[0]) else item.layer


def layers_of(content: Content, stack: Stack) -> list[ItemLayer]:
    """Return the item's definitions. The one that takes effect comes first."""
    found = [
        ItemLayer(
            item,
            item_title(content, item),
            item is stack[-1],
            item_difference(lower, item) if lower is not None else None,
        )
        for lower, item in zip((None, *stack), stack, strict=False)
    ]
    return found[::-1]
