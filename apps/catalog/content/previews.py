"""Previews of a predefined item for its editors."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from apps.capabilities.skills.collection import merged, predefined_skill
from apps.catalog.content.agents import usable_agent
from apps.catalog.content.chat_places import usable_place
from apps.catalog.content.items import Item
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import template_variables
from apps.catalog.content.references import Resolver
from apps.catalog.content.review import item_problems
from apps.catalog.content.skills import usable_skill
from apps.catalog.content.templates import Templates, Unresolved
from apps.catalog.history.line_differences import Line, line_difference
from apps.catalog.masking import masked_text
from apps.manifest.prompts import fill
from apps.manifest.skill_files import SKILL_FILE
from apps.manifest.toolsets import PredefinedToolSet, label_of


class Block(NamedTuple):
    title: str
    text: str


def preview(content: Content, item: Item, locale: str = "en") -> list[Block]:
    """Empty for an item that cannot be used. The item must be the one in force in `content`."""
    if any(item_problems(content, item)):
        return []
    match item.kind:
        case "prompt":
            return [Block("What the model is told", fill(item.value, template_variables(locale)))]
        case "skill":
            return list(skill_blocks(item))
        case "place":
            return list(place_blocks(item))
        case "agent":
            return list(agent_blocks(content, item, locale))
        case "tool":
            return list(tool_blocks(content, item))
        case "toolset":
            return list(toolset_blocks(content, item))


def skill_blocks(item: Item) -> Iterator[Block]:
    found = usable_skill(item)
    if found is None:
        return
    skill = predefined_skill(found)
    if odd := found.document.warnings:
        yield Block("Worth a look", "\n".join(map(str, odd)))
    yield Block("What the model is told of it at first", merged([skill]).prompt)
    yield Block("What it reads when a task calls for it", skill.full_text)
    for path, text in found.files.items():
        yield Block(path, text)


def place_blocks(item: Item) -> Iterator[Block]:
    place = usable_place(item)
    if place is None:
        return
    if place.prompt:
        yield Block("What the model is told", place.prompt)
    if place.tools is not None:
        names = "\n".join(place.tools) or "None of the application's toolsets."
        yield Block("The toolsets and tools that are left", names)


def agent_blocks(content: Content, item: Item, locale: str) -> Iterator[Block]:
    agent = usable_agent(content, item)
    if agent is None:
        return
    yield Block("What models are told of it", f"{agent.name}: {agent.description}")
    yield Block("What it is told", fill(agent.prompt, template_variables(locale)))
    if agent.toolsets is not None:
        names = "\n".join(agent.toolsets) or "None."
        yield Block("What it has of the application's toolsets", names)
    for toolset in agent.brought:
        written = toolset.model_dump(mode="json", exclude_unset=True)
        yield Block(f"The toolset {label_of(toolset)}, which comes with it", as_json(written))


def tool_blocks(content: Content, item: Item) -> Iterator[Block]:
    with suppress(Unresolved):
        yield tool_block(Templates(content).tool_alone(item.name))


def toolset_blocks(content: Content, item: Item) -> Iterator[Block]:
    toolset: Any = Resolver(content).toolset(PredefinedToolSet(template_name=item.name), "")
    written = toolset.model_dump(mode="json", exclude_unset=True, exclude={"tools"})
    yield Block(f"Toolset of the kind {toolset.type}", as_json(written))
    yield from map(tool_block, getattr(toolset, "tools", ()))


def tool_block(tool: Any) -> Block:
    function = getattr(getattr(tool, "open_ai_tool", None), "function", None)
    name = function.name if function is not None else tool.type
    written = tool.model_dump(mode="json", exclude_unset=True)
    state = "" if tool.enabled else ", switched off"
    return Block(f"Tool {name}{state}", as_json(written))


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def difference(below: Item, above: Item) -> list[Line]:
    """Empty if both items have the same text and files."""
    return line_difference(lines_of(below), lines_of(above))


def lines_of(item: Item) -> list[str]:
    """The text with credentials masked, then the other files of a skill."""
    has_credentials = item.kind in ("tool", "toolset")
    lines = (masked_text(item.text) if has_credentials else item.text).splitlines()
    if item.kind == "skill" and item.value:
        for name in sorted(item.value.keys() - {SKILL_FILE}):
            lines += ["", f"{name}:", *item.value[name].splitlines()]
    return lines
