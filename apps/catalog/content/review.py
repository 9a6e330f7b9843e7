"""Finds errors in predefined content, even in content that no application uses."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from django.conf import settings

from apps.catalog.content.agents import agent_problems
from apps.catalog.content.chat_places import place_problems
from apps.catalog.content.items import ItemKind, LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.content.references import ReferenceProblem, ReferenceResolver
from apps.catalog.content.skills import skill_problems
from apps.catalog.content.toolset_templates import Templates, UnresolvedTemplate
from apps.manifest.kinds.predefined import PredefinedToolSet


def content_problems(content: Content) -> list[str]:
    """Return all errors in the predefined content, in the form `file or row: path: error`."""
    return [
        *missing_problems(content),
        *content.problems,
        *(
            f"{content.items[kind][name].location}: {line}"
            for (kind, name), lines in problems_by_item(content).items()
            for line in lines
        ),
    ]


@lru_cache(maxsize=2)
def problems_by_item(content: Content) -> Mapping[tuple[ItemKind, str], tuple[str, ...]]:
    """Return the errors in the items in use, by kind and name, cached for each immutable `Content`
    object.
    """
    return {
        (kind, name): found
        for kind, items in content.items.items()
        for name, item in items.items()
        if (found := tuple(item_problems(content, item)))
    }


def with_item(content: Content, item: LayerItem) -> Content:
    """Return a copy of the content with this item in place of the database item of the same kind
    and name.
    """
    named = content.stacks[item.kind]
    below = tuple(other for other in named.get(item.name, ()) if not other.is_row)
    stacks = {**content.stacks, item.kind: {**named, item.name: (*below, item)}}
    return replace(content, stacks=stacks)


def missing_problems(content: Content) -> list[str]:
    return [f"{path}: the directory does not exist." for path in content.missing]


def mapping_problems(content: Content) -> list[str]:
    """Return an error for each prompt in `CONFIG_PROMPT_MAPPING` that does not exist."""
    return [
        f"CONFIG_PROMPT_MAPPING: There is no predefined prompt '{name}'"
        f"{content.near('prompt', name)}"
        for name in settings.CONFIG_PROMPT_MAPPING
        if name not in content.items["prompt"]
    ]


def item_problems(content: Content, item: LayerItem) -> Iterator[str]:
    if item.problem:
        yield item.problem
    else:
        yield from PROBLEMS[item.kind](content, item)


def toolset_problems(content: Content, item: LayerItem) -> Iterator[str]:
    resolver = ReferenceResolver(content)
    resolver.toolset(PredefinedToolSet(template_name=item.name), "")
    for problem in resolver.problems:
        place = f"{problem.path.removeprefix('.')}: " if problem.path else ""
        yield f"{place}{problem.sentence}"


def tool_problems(content: Content, item: LayerItem) -> Iterator[str]:
    try:
        Templates(content).tool_alone(item.name)
    except UnresolvedTemplate as error:
        yield ReferenceProblem("", error.message, error.details).sentence


PROBLEMS: Mapping[ItemKind, Callable[[Content, LayerItem], Iterable[str]]] = {
    "prompt": lambda content, item: (),
    "skill": lambda content, item: skill_problems(item),
    "place": lambda content, item: place_problems(item),
    "agent": agent_problems,
    "toolset": toolset_problems,
    "tool": tool_problems,
}
