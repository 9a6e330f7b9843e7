"""Parses the definition of a sub-agent: its instructions, its model and tools, and its limits.

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
from apps.manifest.markdown.front_matter import FrontMatterInvalid, read_front_matter
from apps.manifest.markdown.skill_fields import SkillFields
from apps.manifest.problems import DocumentInvalid, cut_problems, join_path
from apps.manifest.toolsets.kinds import ToolSet

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
    """The definition of a sub-agent. If a field is None, the application's value applies."""

    name: str
    title: str
    description: str
    prompt: str
    deployment_id: str | None = None
    toolsets: tuple[str, ...] | None = None
    """The names of the application's toolsets that the agent may use, or None for all."""
    brings: tuple[str, ...] = ()
    """The names of predefined toolsets that the agent has in addition to the application's
    toolsets.
    """
    max_iterations: int | None = None
    timeout_seconds: int | None = None
    may_spawn: bool = False
    brought: tuple[ToolSet, ...] = field(default=(), repr=False)
    """The resolved toolsets of `brings`."""


def read_agent(name: str, text: str) -> AgentDefinition:
    """Parse the definition of a sub-agent. Raises `AgentInvalid` with all problems."""
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
        fields.wrong(
            "the text", "is missing; write the agent's instructions below the front matter"
        )
    for key in sorted(front.values.keys() - set(KEYS)):
        fields.wrong(join_path("", key), f"is not a key of agents; use one of {', '.join(KEYS)}")
    if fields.problems:
        raise AgentInvalid(cut_problems(fields.problems))
    return agent


class AgentFields(SkillFields):
    def number(self, key: str, most: int) -> int | None:
        """Return the key's integer value, or None if the key is missing. For a value that is not
        between 1 and `most`, report a problem and return None.
        """
        text = self.optional(key)
        if text is None:
            return None
        number = read_integer(text, most)
        if not number:
            self.wrong(key, f"must be a whole number from 1 to {most:,}")
        return number or None

    def switch(self, key: str) -> bool:
        text = (self.optional(key) or "no").lower()
        if text not in SWITCH:
            self.wrong(key, "must be true or false")
        return SWITCH.get(text, False)


def at_most(length: int) -> Callable[[str], str]:
    """Return a function that returns an error message for a text with more than `length`
    characters, else "".
    """

    def problem_of(text: str) -> str:
        return f"has {len(text):,} characters; the limit is {length}" if len(text) > length else ""

    return problem_of
