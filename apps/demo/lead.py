"""Plans the calls with which the demo model starts sub-agents and updates a to-do list, step by
step.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.todo_list import CLOSING, OPENING, is_todo_message
from apps.agent.tools import ToolSpec
from apps.demo.calls import PlannedCall
from apps.demo.clues import all_clues
from apps.demo.results import one_line

SPAWN, TODO, SUMMARY = "spawn-agent", "manage-todo", "summary"
LEADS = frozenset({SPAWN, TODO, SUMMARY})
"""The tools that only this module calls. Other modules must not select them by matching words."""
MOST_TASKS = 4
REPORT = "Report what the sub-agents found"

_subagents = re.compile(r"(?i:\bhelpers?\b|\bsub-?agents?\b)")
_reviews = re.compile(r"(?i:\b(?:review|check|proof-?read)\w*\b)")
_list = re.compile(r"(?i:\b(?:to-?do|check)[ -]?list\b[^:\n]*:)(?P<items>.+)", re.DOTALL)
_tasks = re.compile(r":\s+(?P<tasks>[^;]+;.+)", re.DOTALL)
_between = re.compile(r"\s*(?:[,;\n]|\band\b)\s*")
_done = re.compile(r"(?i:\b(?:done|finished|ready|tick)\b)")
_open = re.compile(r"^(\s*[-*+] )\[ \] (.*)$", re.MULTILINE)
_words = re.compile(r"\w{3,}")


def lead_calls(
    question: str,
    messages: Sequence[ModelMessage],
    tools: Sequence[ToolSpec],
    made: Sequence[tuple[ToolCall, ModelMessage | None]],
) -> list[PlannedCall]:
    """Return the next calls for a question about sub-agents or a to-do list, or [] if none are
    left.
    """
    offered = {spec.name: spec for spec in tools}
    names = [call.name for call, _ in made]
    if SPAWN in offered and _subagents.search(question):
        return subagent_calls(question, offered, made)
    if TODO in offered and not names and (text := changed_list(question, messages)):
        return [write_call(text)]
    return []


def subagent_calls(
    question: str,
    offered: Mapping[str, ToolSpec],
    made: Sequence[tuple[ToolCall, ModelMessage | None]],
) -> list[PlannedCall]:
    """Return the next calls: a to-do list of the tasks, then a sub-agent for each task, and then
    the list with finished tasks checked off.
    """
    tasks, names = tasks_in(question), [call.name for call, _ in made]
    lists = names.count(TODO) if TODO in offered else 2
    if not names and not lists:
        return [write_call(list_of(tasks, [False] * len(tasks)))]
    if SPAWN not in names:
        return [spawn_call(task, offered[SPAWN]) for task in tasks]
    told = [result.text if result else "" for call, result in made if call.name == SPAWN]
    done = [*(not text.startswith("Error") for text in told), True]
    return [write_call(list_of(tasks, done))] if lists < 2 else []


def tasks_in(question: str) -> list[str]:
    """Return the tasks that a question lists after a colon, or else a task for each place in it, or
    else the question itself.
    """
    if found := _tasks.search(question):
        return [task.strip() for task in found["tasks"].split(";") if task.strip()][:MOST_TASKS]
    clues = all_clues(question)
    asked = "What time is it in" if "time" in question.casefold() else "What is the weather in"
    places = dict.fromkeys(str(clue["place"]) for clue in clues if "place" in clue)
    return [f"{asked} {place}?" for place in places][:MOST_TASKS] or [question.strip()]


def spawn_call(task: str, spec: ToolSpec) -> PlannedCall:
    kind = "reviewer" if _reviews.search(task) else "researcher"
    arguments = {"task": task}
    if kind in kinds_of(spec):
        arguments["agentDefinitionId"] = kind
    return PlannedCall(SPAWN, arguments)


def kinds_of(spec: ToolSpec) -> Sequence[str]:
    properties: Mapping[str, Any] = spec.parameters.get("properties", {})
    return properties.get("agentDefinitionId", {}).get("enum") or ()


def list_of(tasks: Sequence[str], done: Sequence[bool]) -> str:
    items = zip_longest((*tasks, REPORT), done, fillvalue=False)
    return "\n".join(f"- [{'x' if is_done else ' '}] {one_line(task)}" for task, is_done in items)


def changed_list(question: str, messages: Sequence[ModelMessage]) -> str:
    """Return the to-do list that the question describes. If the question states that an item is
    done, return the current list with this item checked off. Return "" in all other cases.
    """
    if found := _list.search(question):
        items = filter(None, _between.split(found["items"].strip(" .!?")))
        return "\n".join(f"- [ ] {item[:1].upper()}{item[1:]}" for item in items)
    text = current_list(messages)
    said = set(_words.findall(question.casefold()))
    if not text or not _done.search(question):
        return ""

    def ticked(item: re.Match[str]) -> str:
        is_named = said & set(_words.findall(item[2].casefold())) - {"the", "and"}
        return f"{item[1]}[x] {item[2]}" if is_named else item[0]

    after = _open.sub(ticked, text)
    return after if after != text else ""


def current_list(messages: Sequence[ModelMessage]) -> str:
    told = next((message.text for message in reversed(messages) if is_todo_message(message)), "")
    return told.removeprefix(OPENING).partition(CLOSING)[0].strip("\n")


def write_call(text: str) -> PlannedCall:
    return PlannedCall(TODO, {"operation": "write", "text": text})
