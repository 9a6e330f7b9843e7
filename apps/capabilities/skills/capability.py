"""Adds skills: instructions that the model reads when a task needs them.

Every application offers the predefined skills and the skills in its manifest. Users can attach more
skills to a question.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import lru_cache, partial
from html import escape
from itertools import chain

from django.conf import settings

from apps.agent.injection import Injection, inject, without_pairs
from apps.agent.messages import ModelMessage
from apps.agent.tools import Toolbox
from apps.capabilities.registry import (
    Capability,
    Contribution,
    HistoryStep,
    Open,
    Opening,
    PreparedTool,
)
from apps.capabilities.skills.collection import (
    TOOL_NAME,
    Skill,
    SkillCollection,
    merge_collections,
    predefined_skills,
)
from apps.capabilities.skills.picks import (
    NOTHING,
    Picks,
    pick_issues,
    picks_in,
    soft_issue,
    with_picks,
    without_picks,
)
from apps.capabilities.skills.read_tool import SKILLS, read_tool
from apps.capabilities.skills.stored_skills import FetchedSkills, SkillAddress, fetch_all
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest

HOW_TO = (
    "Skills are instructions for certain tasks. When a task matches the description of one of "
    f"these, read it with `{TOOL_NAME}` before you begin, and follow it."
)
FILE_PARAMETERS = "tool-call-file-parameter-formatting"
"""Every conversation begins with this predefined skill, because any tool may accept a file."""


def prepare(manifest: Manifest) -> Open:
    configured = {
        f"skills[{index}]": SkillAddress(skill.type, skill.url)
        for index, skill in enumerate(manifest.skills or ())
    }
    tool = read_tool(manifest)

    def open_skills(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        picks = (
            picks_in(opening.conversation.messages) if settings.ENABLE_PREVIEW_FEATURES else NOTHING
        )
        own = predefined_skills(opening.predefined.skills)
        if configured or picks.picks:
            return open_more(opening, own, picks)
        return nullcontext(contribution(opening, tool, own, own, (), picks.issues))

    @asynccontextmanager
    async def open_more(
        opening: Opening, own: SkillCollection, picks: Picks
    ) -> AsyncIterator[Contribution]:
        addresses = (*picks.addresses, *configured.values())
        fetched = await fetch_all(opening.workspace, addresses)
        collection = merged_collection(own, picks, configured, fetched)
        issues = (
            *picks.issues,
            *fetched.issues,
            *pick_issues(picks, fetched),
            *refusal_issues(configured, fetched),
            *collection.issues,
        )
        step = partial(with_picks, picks, fetched, collection)
        steps = (step,) if picks.picks else ()
        yield contribution(opening, tool, own, collection, steps, issues)

    return open_skills


def contribution(
    opening: Opening,
    tool: PreparedTool,
    own: SkillCollection,
    collection: SkillCollection,
    steps: tuple[HistoryStep, ...],
    issues: Sequence[InitializationIssue],
) -> Contribution:
    """Return the tool, prompt and steps that skills add to a run.

    `own` contains the predefined skills, and `collection` all skills.
    """
    opening.findings[SKILLS] = collection
    skill = own.skills.get(FILE_PARAMETERS)
    first = (partial(begin_with, injection_of(skill.name, skill.full_text)),) if skill else ()
    last = (
        (without_picks,) if any(message.extra for message in opening.conversation.messages) else ()
    )
    # The contribution is needed even if no skill can be read, because the steps add calls of this
    # tool to the conversation.
    is_needed = bool(collection.skills or steps)
    requires_tools = any(skill.required_tools for skill in collection.skills.values())
    return Contribution(
        tools=(tool.bind(opening),) if is_needed else (),
        instructions=()
        if requires_tools or not collection.skills
        else (skills_prompt(collection.skills.values()),),
        composed=(partial(usable_skills_prompt, collection),) if requires_tools else (),
        history=(*first, *steps, *last),
        tidying=(tidy,) if first or steps else (),
        issues=tuple(issues),
    )


def usable_skills_prompt(collection: SkillCollection, tools: Toolbox) -> str:
    """Return the part of the system prompt that lists the skills whose required tools are
    available.
    """
    # A search for tools can find the unlisted ones later.
    names = {*tools.listed, *tools.unlisted}
    return skills_prompt(one for one in collection.skills.values() if is_usable(one, names))


def is_usable(skill: Skill, tools: Collection[str]) -> bool:
    """Return True if all tools that the skill requires are in `tools`, with or without a toolset
    prefix.
    """
    return all(
        any(name == one or name.endswith(f"_{one}") for name in tools)
        for one in skill.required_tools
    )


def skills_prompt(skills: Iterable[Skill]) -> str:
    """Return the part of the system prompt that lists the skills, or "" if there are none."""
    return list_skills(tuple((one.name, one.description) for one in skills))


@lru_cache(maxsize=64)
def list_skills(skills: tuple[tuple[str, str], ...]) -> str:
    """Return the part of the system prompt that lists skills by name and description, or ""."""
    if not skills:
        return ""
    lines = [
        f"  <skill>\n    <name>{escape(name, quote=False)}</name>\n"
        f"    <description>{escape(description, quote=False)}</description>\n  </skill>"
        for name, description in skills
    ]
    return "\n".join((HOW_TO, "", "<available_skills>", *lines, "</available_skills>"))


def merged_collection(
    own: SkillCollection,
    picks: Picks,
    configured: Mapping[str, SkillAddress],
    fetched: FetchedSkills,
) -> SkillCollection:
    """Merge the skills that users attached, the predefined skills, and the manifest's prompts and
    skill folders. In case of duplicate names, the earlier source takes precedence.
    """
    prompts = (a for a in configured.values() if a.kind == "dial-prompt")
    folders = (a for a in configured.values() if a.kind == "dial-skill")
    found = fetched.skills
    chosen = [found[address] for address in picks.addresses if address in found]
    others = dict.fromkeys(a for a in chain(prompts, folders) if a not in picks.addresses)
    added = [found[address] for address in others if address in found]
    return merge_collections(chain(chosen, own.skills.values(), added))


def refusal_issues(
    configured: Mapping[str, SkillAddress], fetched: FetchedSkills
) -> Iterator[InitializationIssue]:
    """Yield an issue for each skill in the manifest that cannot be loaded."""
    seen: set[SkillAddress] = set()
    for place, address in configured.items():
        refusal = fetched.refusals.get(address)
        if refusal and address not in seen:
            seen.add(address)
            yield soft_issue(f"{place}: {address.url}: {refusal}")


@lru_cache(maxsize=8)
def injection_of(name: str, text: str) -> Injection:
    """Return the injection that adds a skill's text to a conversation."""
    return Injection(TOOL_NAME, {"skill_name": name}, text, "refresh_if_changed")


async def begin_with(read: Injection, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    return inject(messages, read)


def tidy(messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
    # Each request injects the skills again in the same positions.
    return without_pairs(messages, TOOL_NAME)


SERVES = frozenset({"skills.dial-prompt", "skills.dial-skill", f"tool_sets.internal.{TOOL_NAME}"})
skills = Capability("skills", SERVES, prepare)
