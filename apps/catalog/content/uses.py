"""Who refers to predefined content: applications by their manifests, and other items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from apps.catalog.content.items import Kind
from apps.catalog.content.layers import Content


class Reference(NamedTuple):
    kind: Kind
    name: str


class Application(NamedTuple):
    """Of a row no more than its manifest and how it is called."""

    pk: int
    title: str
    manifest: Any


@dataclass(frozen=True, slots=True)
class Uses:
    """Who uses one item, by title or name."""

    applications: tuple[Application, ...]
    items: tuple[Reference, ...]

    @property
    def count(self) -> int:
        return len(self.applications) + len(self.items)


NOBODY = Uses((), ())


def uses_of(content: Content, applications: Iterable[Application]) -> dict[Reference, Uses]:
    """Of every item that anybody refers to directly."""
    found: dict[Reference, tuple[list[Application], list[Reference]]] = {}
    for application in applications:
        for reference in set(references_in(application.manifest)):
            found.setdefault(reference, ([], []))[0].append(application)
    for kind, items in content.items.items():
        for name, item in items.items():
            for reference in set(references_in(item.value)):
                found.setdefault(reference, ([], []))[1].append(Reference(kind, name))
    return {key: Uses(tuple(a), tuple(sorted(i))) for key, (a, i) in found.items()}


def references_in(document: Any) -> Iterator[Reference]:
    """Every reference in a document, whether it is valid or not, patches included."""
    waiting = [document]
    while waiting:
        found = waiting.pop()
        if isinstance(found, list):
            waiting += found
        elif isinstance(found, dict):
            waiting += found.values()
            kind = found.get("type")
            if isinstance(name := found.get("template_name"), str):
                yield Reference("toolset" if kind == "predefined" else "tool", name)
            elif kind == "predefined" and isinstance(name := found.get("template"), str):
                yield Reference("prompt", name)
