"""Builds previews of predefined items, which show what models and users get from an item."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from apps.capabilities.skills.capability import skills_prompt
from apps.capabilities.skills.collection import predefined_skill
from apps.catalog.content.agents import usable_agent
from apps.catalog.content.chat_places import usable_place
from apps.catalog.content.items import LayerItem
from apps.catalog.content.layers import Content
from apps.catalog.content.prompts import template_variables
from apps.catalog.content.references import ReferenceResolver
from apps.catalog.content.review import item_problems
from apps.catalog.content.skills import usable_skill
from apps.catalog.content.toolset_templates import Templates, UnresolvedTemplate
from apps.catalog.credentials.masking import masked_text
from apps.catalog.history.differences import Line, line_difference
from apps.manifest.kinds.predefined import PredefinedToolSet
from apps.manifest.markdown.skill_files import SKILL_FILE
from apps.manifest.prompts import fill_text


class PreviewBlock(NamedTuple):
    title: str
    text: str


def preview(content: Content, item: LayerItem, locale: str = "en") -> list[PreviewBlock]:
    """Return the preview of a predefined item, or [] if the item cannot be used.

    The item must be in use in `content`, not overridden by a higher layer.
    """
    if any(item_problems(content, item)):
        return []
    match item.kind:
        case "prompt":
            return [
                PreviewBlock(
                    "Instructions for the model", fill_text(item.value, template_variables(locale))
                )
            ]
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


def skill_blocks(item: LayerItem) -> Iterator[PreviewBlock]:
    found = usable_skill(item)
    if found is None:
        return
    skill = predefined_skill(found)
    if odd := found.document.warnings:
        yield PreviewBlock("Warnings", "\n".join(map(str, odd)))
    yield PreviewBlock("Description for the model", skills_prompt([skill]))
    yield PreviewBlock("Instructions, loaded when a task needs them", skill.full_text)
    for path, text in found.files.items():
        yield PreviewBlock(path, text)


def place_blocks(item: LayerItem) -> Iterator[PreviewBlock]:
    place = usable_place(item)
    if place is None:
        return
    if place.prompt:
        yield PreviewBlock("Instructions for the model", place.prompt)
    if place.tools is not None:
        names = "\n".join(place.tools) or "None of the application's toolsets."
        yield PreviewBlock("Remaining toolsets and tools", names)


def agent_blocks(content: Content, item: LayerItem, locale: str) -> Iterator[PreviewBlock]:
    agent = usable_agent(content, item)
    if agent is None:
        return
    yield PreviewBlock("Description for models", f"{agent.name}: {agent.description}")
    yield PreviewBlock("Instructions", fill_text(agent.prompt, template_variables(locale)))
    if agent.toolsets is not None:
        names = "\n".join(agent.toolsets) or "None."
        yield PreviewBlock("Toolsets of the application", names)
    for toolset in agent.brought:
        written = toolset.model_dump(mode="json", exclude_unset=True)
        yield PreviewBlock(f"The toolset {toolset.label}, which it adds", as_json(written))


def tool_blocks(content: Content, item: LayerItem) -> Iterator[PreviewBlock]:
    with suppress(UnresolvedTemplate):
        yield tool_block(Templates(content).tool_alone(item.name))


def toolset_blocks(content: Content, item: LayerItem) -> Iterator[PreviewBlock]:
    toolset: Any = ReferenceResolver(content).toolset(
        PredefinedToolSet(template_name=item.name), ""
    )
    written = toolset.model_dump(mode="json", exclude_unset=True, exclude={"tools"})
    yield PreviewBlock(f"Toolset of the kind {toolset.type}", as_json(written))
    yield from map(tool_block, getattr(toolset, "tools", ()))


def tool_block(tool: Any) -> PreviewBlock:
    function = getattr(getattr(tool, "open_ai_tool", None), "function", None)
    name = function.name if function is not None else tool.type
    written = tool.model_dump(mode="json", exclude_unset=True)
    state = "" if tool.enabled else ", disabled"
    return PreviewBlock(f"Tool {name}{state}", as_json(written))


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def item_difference(below: LayerItem, above: LayerItem) -> list[Line]:
    """Return the lines that differ between two versions of an item, or [] if they are equal."""
    return line_difference(lines_of(below), lines_of(above))


def lines_of(item: LayerItem) -> list[str]:
    """Return the lines of an item's text, with masked credentials. For a skill, add the lines of
    its other files.
    """
    has_credentials = item.kind in ("tool", "toolset")
    lines = (masked_text(item.text) if has_credentials else item.text).splitlines()
    if item.kind == "skill" and item.value:
        for name in sorted(item.value.keys() - {SKILL_FILE}):
            lines += ["", f"{name}:", *item.value[name].splitlines()]
    return lines
