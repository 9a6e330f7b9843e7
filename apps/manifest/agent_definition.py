"""A kind of helper: what it is told, with which model and tools it works, and its limits.

---
title: Researcher
description: Finds out what a question needs, and reports it with its sources.
toolsets: [library]
brings: [web_search]
max-iterations: 8
---
You find things out …
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from apps.integers import read_integer
from apps.manifest.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.problems import DocumentInvalid, cut, join
from apps.manifest.skill_fields import SkillFields
from apps.manifest.toolsets import ToolSet

LONGEST_TITLE = 100
LONGEST_DESCRIPTION = 500
MOST_ITERATIONS = 1_000
MOST_SECONDS = 3_600
KEYS = (
    *("title", "description", "model", "toolsets", "brings"),
    *("max-iterations", "timeout-seconds", "may-spawn"),
)
SWITCH = {"true": True, "yes": True, "false": False, "no": False}


class AgentInvalid(DocumentInvalid): ...


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """`toolsets` are the names of those of the application that it may use; None: all.

    `brings` names predefined toolsets that come with it, and `brought` are these themselves once they
    are known. What is None is as the application has it.
    """

    name: str
    title: str
    description: str
    prompt: str
    deployment_id: str | None = None
    toolsets: tuple[str, ...] | None = None
    brings: tuple[str, ...] = ()
    max_iterations: int | None = None
    timeout_seconds: int | None = None
    may_spawn: bool = False
    brought: tuple[ToolSet, ...] = field(default=(), repr=False)


def read_agent(name: str, text: str) -> AgentDefinition:
    """Raises `AgentInvalid` with all that is wrong."""
    try:
        front = read_front_matter(text)
    except FrontMatterInvalid as error:
        raise AgentInvalid(error.problems) from None
    fields = AgentFields(front.values)
    agent = AgentDefinition(
        name=name,
        title=fields.text("title", at_most(LONGEST_TITLE)) or "",
        description=fields.text("description", at_most(LONGEST_DESCRIPTION)) or "",
        prompt=front.body.strip(),
        deployment_id=fields.optional("model"),
        toolsets=(fields.words("toolsets") or ()) if "toolsets" in front.values else None,
        brings=fields.words("brings") or (),
        max_iterations=fields.number("max-iterations", MOST_ITERATIONS),
        timeout_seconds=fields.number("timeout-seconds", MOST_SECONDS),
        may_spawn=fields.switch("may-spawn"),
    )
    if not agent.prompt:
        fields.wrong("the text", "is missing; write below the keys what the agent is told")
    for key in sorted(front.values.keys() - set(KEYS)):
        fields.wrong(join("", key), f"is no key of an agent; write one of {', '.join(KEYS)}")
    if fields.problems:
        raise AgentInvalid(cut(fields.problems))
    return agent


class AgentFields(SkillFields):
    def number(self, key: str, most: int) -> int | None:
        """A whole number from 1 to `most`."""
        text = self.optional(key)
        if text is None:
            return None
        number = read_integer(text, most)
        if not number:
            self.wrong(key, f"has to be a whole number from 1 to {most:,}")
        return number or None

    def switch(self, key: str) -> bool:
        text = (self.optional(key) or "no").lower()
        if text not in SWITCH:
            self.wrong(key, "has to be true or false")
        return SWITCH.get(text, False)


def at_most(length: int) -> Callable[[str], str]:
    """Tells what is wrong with a text that is longer, "" for another one."""

    def problem_of(text: str) -> str:
        return f"has {len(text):,} characters; shorten it to {length}" if len(text) > length else ""

    return problem_of
