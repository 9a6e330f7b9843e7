"""Who names which secret: applications in their manifests, and predefined content."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.catalog.models import Application
from apps.manifest.credentials import credential_places


@dataclass(frozen=True, slots=True)
class User:
    """An application, or the item of a kind; `place` is the path in it."""

    kind: str
    name: str
    place: str
    pk: int | None = None


def secret_uses(content: Content) -> dict[str, list[User]]:
    """By the name of a secret, everybody who names it. One query."""
    return users_by_name(content, named_in)


def users_by_name(
    content: Content, named_in: Callable[[Any], Iterable[tuple[str, str]]]
) -> dict[str, list[User]]:
    """Everybody who names something; `named_in` gives names and places in a document. One query."""
    found: dict[str, list[User]] = {}
    rows = Application.objects.order_by("title").values_list("pk", "title", "manifest")
    for pk, title, manifest in rows.iterator():
        for name, place in named_in(manifest):
            found.setdefault(name, []).append(User("application", title, place, pk))
    for item in documents(content):
        for name, place in named_in(item.value):
            found.setdefault(name, []).append(User(item.kind, item.name, place))
    return found


def documents(content: Content) -> Iterable[Item]:
    """The items in force that can hold credentials."""
    return (*content.items["toolset"].values(), *content.items["tool"].values())


def named_in(document: Any) -> Iterable[tuple[str, str]]:
    for place in credential_places(document):
        if place.kind == "reference":
            yield place.secret, place.path
