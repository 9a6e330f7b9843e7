"""Names the fields of an application in words: by section, list item and field.

The studio's scripts get the same tables in the data of the page.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst

from apps.catalog.content.installed import installed_content
from apps.console.manifest_editor.form_schema import split_words
from apps.console.studio.tool_cards import shown_name, toolset_title
from apps.manifest.problems import ROOT
from apps.manifest.toolsets.kinds import KINDS

STEP = " \N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} "
"""Separates the section, the item and the field in a label."""

Part = str | int
"""A key or an index in a path."""


@dataclass(frozen=True, slots=True)
class StudioSection:
    """A section of the studio."""

    title: str
    paths: tuple[str, ...] | None = None
    """The paths of the draft that the section edits, or None if it edits no part of the draft."""


SECTIONS = {
    "instructions": StudioSection(
        "Instructions", ("orchestrator.system_prompt", "(title)", "(description)", "(icon)")
    ),
    "model": StudioSection("Model", ("orchestrator.deployment",)),
    "tools": StudioSection(
        "Tools",
        (
            "tool_sets",
            "features.web_fetch",
            "features.notes",
            "features.search_conversations",
            "features.questions",
            "features.todo",
            "features.subagents",
            "features.spawn_agent",
            "features.schedules",
            "features.representation_tooling",
            "features.summary",
        ),
    ),
    "files": StudioSection(
        "Files and contexts", ("contexts", "features.documents", "features.dial_files")
    ),
    "skills": StudioSection("Skills", ("skills",)),
    "starters": StudioSection("Starters", ("conversation_starters", "starters")),
    "behaviour": StudioSection(
        "Behavior",
        (
            "features",
            "orchestrator.attachment_strategy",
            "orchestrator.tool_discovery",
            "orchestrator.client",
            "hooks",
        ),
    ),
    "general": StudioSection("General"),
    "access": StudioSection("Access"),
    "limits": StudioSection(
        "Limits",
        (
            "orchestrator.max_iterations",
            "orchestrator.context",
            "tool_defaults",
            "features.rate_limits",
            "features.retention",
            "features.file_loading",
        ),
    ),
    "versions": StudioSection("Versions"),
    "cases": StudioSection("Test cases"),
    "runs": StudioSection("Runs"),
    "usage": StudioSection("Usage"),
    "connect": StudioSection("Connect"),
    "all-fields": StudioSection("All fields", ()),
    "text": StudioSection("Text", ()),
}
"""The studio's sections by the ID in their URL. A field belongs to the section with the longest
path, or else to *All fields*.
"""
ALL_FIELDS = SECTIONS["all-fields"].title

COLUMNS = {
    "title": ("instructions", "Title"),
    "description": ("instructions", "Description"),
    "icon": ("instructions", "Icon"),
    "slug": ("general", "Name in URLs"),
    "is_enabled": ("access", "Enabled"),
    "is_public": ("access", "Everyone"),
    "is_shared": ("access", "All signed-in users"),
    "needs_second_publisher": ("access", "Published by two people"),
    "owner": ("access", "Owner"),
}
"""The sections and labels of an application's columns. Their paths in the draft have parentheses.
"""

FIELDS = {
    "contexts": "",
    "contexts[].content": "Text",
    "contexts[].description": "Description",
    "contexts[].url": "Path",
    "conversation_starters": "",
    "conversation_starters.auto_submit": "Send immediately",
    "conversation_starters.chat_message_input_disabled": "Require a starter",
    "conversation_starters.intro_text": "Introduction",
    "conversation_starters.starters": "",
    "conversation_starters.starters[].text": "Question",
    "conversation_starters.starters[].title": "Button",
    "features": "",
    "features.approval.mode": "Tool calls need approval",
    "features.dial_files": "Work with the user's files",
    "features.documents": "Search the files",
    "features.documents.results": "Passages per answer",
    "features.input_attachment_types": "Allowed file types",
    "features.memory": "Memory",
    "features.memory.prime": "Memories in the prompt",
    "features.memory.scope": "Shared with other applications",
    "features.model_keys.mode": "Keys for models",
    "features.notes": "Notes",
    "features.questions": "Questions to the user",
    "features.questions.seconds": "Timeout, in seconds",
    "features.rate_limits.requests_per_minute": "Requests per minute",
    "features.rate_limits.tokens_per_minute": "Tokens per minute",
    "features.representation_tooling": "Answers with files",
    "features.retention.days": "Days of inactivity before deletion",
    "features.schedules": "Schedules",
    "features.schedules.approval.mode": "Approval",
    "features.search_conversations": "Earlier conversations",
    "features.spawn_agent": "Predefined sub-agents",
    "features.spawn_agent.agents": "Only these sub-agents",
    "features.spawn_agent.timeout_seconds": "Timeout for each sub-agent, in seconds",
    "features.stage_display.level": "Visible tool calls",
    "features.subagents": "Sub-agents",
    "features.subagents.general_purpose": "General-purpose sub-agent",
    "features.subagents.general_purpose.deployment_id": "Model",
    "features.subagents.general_purpose.max_iterations": "Model calls for one task",
    "features.subagents.general_purpose.system_prompt": "Prompt",
    "features.subagents.timeout_seconds": "Timeout for each task, in seconds",
    "features.subagents.types": "Sub-agents",
    "features.subagents.types[].deployment_id": "Model",
    "features.subagents.types[].description": "Description",
    "features.subagents.types[].max_iterations": "Model calls for one task",
    "features.subagents.types[].name": "Name",
    "features.subagents.types[].system_prompt": "Prompt",
    "features.subagents.types[].tool_sets": "Choose its toolsets",
    "features.summary": "End with a summary",
    "features.timestamp": "Time",
    "features.todo": "To-do list",
    "features.web_fetch": "Web pages",
    "orchestrator": "",
    "orchestrator.attachment_strategy": "Show files only when the model asks for them",
    "orchestrator.context.strategy": "If a conversation exceeds the context window",
    "orchestrator.deployment": "",
    "orchestrator.deployment.deployment_id": "Deployment",
    "orchestrator.deployment.parameters.frequency_penalty": "Frequency penalty",
    "orchestrator.deployment.parameters.max_tokens": "Maximum output tokens",
    "orchestrator.deployment.parameters.presence_penalty": "Presence penalty",
    "orchestrator.deployment.parameters.reasoning_effort": "Reasoning effort",
    "orchestrator.deployment.parameters.seed": "Seed",
    "orchestrator.deployment.parameters.temperature": "Temperature",
    "orchestrator.deployment.parameters.top_p": "Top p",
    "orchestrator.max_iterations": "Maximum model calls",
    "orchestrator.system_prompt": "",
    "orchestrator.system_prompt.content": "Prompt",
    "orchestrator.system_prompt.path": "Path",
    "orchestrator.system_prompt.template": "Prompt",
    "orchestrator.system_prompt.variables": "Variables",
    "orchestrator.tool_discovery": "Search for tools instead of listing them",
    "orchestrator.tool_discovery.min_tools_for_deferral": (
        "Always list toolsets with fewer tools than"
    ),
    "skills": "",
    "skills[].type": "Kind",
    "skills[].url": "Path",
    "tool_defaults.timeout_seconds": "Timeout for a tool call, in seconds",
    "tool_sets": "",
}
"""The labels of the manifest's fields by path, where `[]` is an index. A part that fills its
section has the label "".
"""

ITEMS = {
    "contexts[]": "Context",
    "conversation_starters.starters[]": "Starter",
    "features.subagents.types[]": "Sub-agent",
    "skills[]": "Skill from DIAL",
}
"""The names of list items, which have a number in labels."""

PARAMETERS = "open_ai_tool.function.parameters.properties"
AUTHORIZATION = {
    "authorization": "Authentication",
    "authorization.authorization_url": "Authorization URL",
    "authorization.client_id": "Client ID",
    "authorization.client_secret": "Secret",
    "authorization.key": "Secret",
    "authorization.location": "Sent in",
    "authorization.name": "Name of the header or parameter",
    "authorization.password": "Secret",
    "authorization.scope": "Scopes",
    "authorization.token": "Secret",
    "authorization.token_url": "Token URL",
    "authorization.username": "Username",
}
TOOL_FIELDS = {
    **AUTHORIZATION,
    **{f"mcp_server_info.{path}": label for path, label in AUTHORIZATION.items()},
    "allowed_tools": "Tools",
    "approval.mode": "Approval",
    "deployment_id": "Deployment",
    "description": "Description",
    "display.stage.name": "Title of a call",
    "enabled": "In use",
    "fallback_configuration.strategies": "When a call fails",
    "mcp_server_info.url": "Server URL",
    "name": "Name",
    "open_ai_tool.function.description": "Description, and when to use it",
    "open_ai_tool.function.name": "Name",
    "open_ai_tool.function.parameters": "Parameters",
    f"{PARAMETERS}.*.const": "Default or constant",
    f"{PARAMETERS}.*.default": "Default or constant",
    f"{PARAMETERS}.*.description": "Description",
    f"{PARAMETERS}.*.parameter_info.key": "At the service",
    f"{PARAMETERS}.*.parameter_info.type": "Location",
    f"{PARAMETERS}.*.type": "Type",
    "open_ai_tool.function.parameters.required": "Required",
    "rest_api_method_info.method_type": "Method",
    "rest_api_method_info.method_url": "URL",
    "title": "Title",
    "tools": "Tools",
    "user_switch": "Switch for users",
}
"""The labels of the fields of toolsets and tools, where `*` is the name of a parameter. Each kind
of toolset has labels for its own fields.
"""
LEVELS = (
    "tool_sets[]",
    "tool_sets[].override",
    "tool_sets[].tools[]",
    "tool_sets[].tools[].override",
)
"""The paths of objects with `TOOL_FIELDS`."""

LABELS = {
    **FIELDS,
    **{f"{level}.{path}": label for level in LEVELS for path, label in TOOL_FIELDS.items()},
}
PARAMETER = f"tool_sets[].tools[].{PARAMETERS}.*"
NAMED = {*ITEMS, *LEVELS, PARAMETER}
"""The paths of objects whose names are steps of a label."""


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


def section_of(path: str) -> StudioSection | None:
    """Return the section with a field, or None if only *All fields* has it."""
    found = [
        (len(start), one)
        for one in SECTIONS.values()
        for start in one.paths or ()
        if path == start or path.startswith((f"{start}.", f"{start}["))
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


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
