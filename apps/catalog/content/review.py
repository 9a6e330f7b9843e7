"""Everything that is wrong with predefined content, whether or not an application uses it."""

from __future__ import annotations

from collections.abc import Iterator

from apps.catalog.content.layers import Content, Item
from apps.catalog.content.references import ReferenceProblem, Resolver, Unresolved
from apps.catalog.content.slots import slot_of_tool
from apps.manifest.tools import PredefinedTool
from apps.manifest.toolsets import PredefinedToolSet


def content_problems(content: Content) -> list[str]:
    """One line for each mistake: file, place in it, what is wrong."""
    found = list(content.problems)
    for items in content.items.values():
        for item in items.values():
            found += (f"{item.path}: {line}" for line in item_problems(content, item))
    return found


def item_problems(content: Content, item: Item) -> Iterator[str]:
    if item.problem:
        yield item.problem
    elif item.kind == "toolset":
        resolver = Resolver(content)
        resolver.toolset(PredefinedToolSet(template_name=item.name), "")
        for problem in resolver.problems:
            yield from lines(problem)
    elif item.kind == "tool":
        resolver, reference = Resolver(content), PredefinedTool(template_name=item.name)
        try:
            slot = slot_of_tool(resolver.document("tool", reference, ()))
            resolver.expand("tool", reference, slot)
        except Unresolved as error:
            yield from lines(ReferenceProblem("", error.message, error.details))


def lines(problem: ReferenceProblem) -> Iterator[str]:
    place = f"{problem.path.removeprefix('.')}: " if problem.path else ""
    yield f"{place}{problem.sentence}"
