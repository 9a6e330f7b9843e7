"""Skills that a question names: the demo model reads them, and the files of theirs that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from apps.agent.messages import Message
from apps.agent.tools import ToolSpec
from apps.manifest.skill_document import is_offered
from apps.workspace.demo.arguments import Call
from apps.workspace.demo.results import READ_SKILL

MOST_CHARACTERS = 4_000
"""Of a question that is searched; longer ones are texts, not questions."""

_asks = re.compile(r"\bskills?\b", re.IGNORECASE)
_quoted = re.compile(r"\bskill\s+[\"“'`]([^\"”'`\n]{1,64})[\"”'`]", re.IGNORECASE)
_list = re.compile(r"<available_skills>\n(.*?)</available_skills>", re.DOTALL)
_name = re.compile(r"^    <name>([a-z0-9-]{1,64})</name>$", re.MULTILINE)
_path = re.compile(r"[^\W_][\w./-]{0,200}\.[A-Za-z]{1,8}\b")


def others(tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    """Tools that may be meant by words alone: "read" is a word of many questions."""
    return [spec for spec in tools if spec.name != READ_SKILL]


def reads(text: str, tools: Sequence[ToolSpec], messages: Sequence[Message]) -> tuple[Call, ...]:
    """What to read for a question about skills that are listed, or of which it quotes the name."""
    asked = text[:MOST_CHARACTERS]
    if not _asks.search(asked) or all(spec.name != READ_SKILL for spec in tools):
        return ()
    named = [name for name in listed(messages) if mentions(asked, name)]
    names = dict.fromkeys([*named, *_quoted.findall(asked)])
    files = dict.fromkeys(path for path in _path.findall(asked) if is_offered(path))
    return tuple(call for name in names for call in calls_of(name, list(files)))


def calls_of(name: str, files: Sequence[str]) -> Iterator[Call]:
    yield Call(READ_SKILL, {"skill_name": name})
    for path in files:
        yield Call(READ_SKILL, {"skill_name": name, "file_path": path})


def listed(messages: Sequence[Message]) -> list[str]:
    """The names that the prompt lists."""
    prompt = next((message.text for message in messages if message.role == "system"), "")
    return [name for block in _list.findall(prompt) for name in _name.findall(block)]


def mentions(text: str, name: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE))
