"""Skills: instructions that the model reads when a task calls for them.

The predefined ones are offered to every application, which adds those of its manifest; users can
pick more for a question.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import lru_cache, partial
from itertools import chain

from django.conf import settings

from apps.agent.injection import Injection, inject, without_pairs
from apps.agent.messages import Message
from apps.capabilities.registry import Capability, Contribution, HistoryStep, Open, Opening
from apps.capabilities.skills.collection import (
    TOOL_NAME,
    Collection,
    merged,
    predefined,
)
from apps.capabilities.skills.fetching import Address, Fetched, fetch_all
from apps.capabilities.skills.picks import (
    NOTHING,
    Picked,
    pick_issues,
    picks_in,
    soft,
    with_picks,
    without_picks,
)
from apps.capabilities.skills.reading import SKILLS, reading_tool
from apps.capabilities.wrappers.prepared import PreparedTool
from apps.errors import InitializationIssue
from apps.manifest.manifest import Manifest

FILE_PARAMETERS = "tool-call-file-parameter-formatting"
"""The predefined skill that every conversation begins with: any tool may take a file."""


def prepare(manifest: Manifest) -> Open:
    configured = {
        f"skills[{index}]": Address(skill.type, skill.url)
        for index, skill in enumerate(manifest.skills or ())
    }
    tool = reading_tool(manifest)

    def open_skills(opening: Opening) -> AbstractAsyncContextManager[Contribution]:
        picked = picks_in(opening.messages) if settings.ENABLE_PREVIEW_FEATURES else NOTHING
        own = predefined(tuple(opening.skills))
        if configured or picked.picks:
            return open_more(opening, own, picked)
        return nullcontext(contribution(opening, tool, own, (), picked.issues))

    @asynccontextmanager
    async def open_more(
        opening: Opening, own: Collection, picked: Picked
    ) -> AsyncIterator[Contribution]:
        addresses = (*picked.addresses, *configured.values())
        fetched = await fetch_all(opening.workspace, addresses)
        collection = together(own, picked, configured, fetched)
        issues = (
            *picked.issues,
            *fetched.issues,
            *pick_issues(picked, fetched),
            *refusals(configured, fetched),
            *collection.issues,
        )
        step = partial(read_picks, picked, fetched, collection)
        yield contribution(opening, tool, collection, (step,) if picked.picks else (), issues)

    return open_skills


def contribution(
    opening: Opening,
    tool: PreparedTool,
    collection: Collection,
    steps: tuple[HistoryStep, ...],
    issues: Sequence[InitializationIssue],
) -> Contribution:
    """Without a skill there is nothing to read; but a call that the model sees has its tool."""
    opening.known[SKILLS] = collection
    own = predefined(tuple(opening.skills)).skills.get(FILE_PARAMETERS)
    first = (partial(begin_with, reading_of(own.name, own.told)),) if own is not None else ()
    is_needed = bool(collection.skills or steps)
    return Contribution(
        tools=(tool.bind(opening),) if is_needed else (),
        instructions=(collection.prompt,) if collection.skills else (),
        history=(*first, *steps, strip),
        tidying=(tidy,) if first or steps else (),
        issues=tuple(issues),
    )


def together(
    own: Collection, picked: Picked, configured: Mapping[str, Address], fetched: Fetched
) -> Collection:
    """The picked ones, the newest first; the predefined ones; prompts, then folders of the manifest.

    A skill that is both picked and configured is one.
    """
    prompts = (a for a in configured.values() if a.kind == "dial-prompt")
    folders = (a for a in configured.values() if a.kind == "dial-skill")
    found = fetched.skills
    chosen = [found[address] for address in picked.addresses if address in found]
    others = dict.fromkeys(a for a in chain(prompts, folders) if a not in picked.addresses)
    added = [found[address] for address in others if address in found]
    return merged(chain(chosen, own.skills.values(), added))


def refusals(configured: Mapping[str, Address], fetched: Fetched) -> Iterator[InitializationIssue]:
    """One for each skill of the manifest that cannot be had; the same one is told once."""
    told: set[Address] = set()
    for place, address in configured.items():
        refusal = fetched.refusals.get(address)
        if refusal and address not in told:
            told.add(address)
            yield soft(f"{place}: {address.url}: {refusal}")


@lru_cache(maxsize=8)
def reading_of(name: str, text: str) -> Injection:
    """One for all conversations that begin with it."""
    return Injection(TOOL_NAME, {"skill_name": name}, text, "refresh_if_changed")


async def begin_with(read: Injection, messages: Sequence[Message]) -> Sequence[Message]:
    return inject(messages, read)


async def read_picks(
    picked: Picked, fetched: Fetched, collection: Collection, messages: Sequence[Message]
) -> Sequence[Message]:
    return with_picks(messages, picked, fetched, collection)


def tidy(messages: Sequence[Message]) -> Sequence[Message]:
    """Every request reads anew what was put in for it, in the same place."""
    return without_pairs(messages, TOOL_NAME)


async def strip(messages: Sequence[Message]) -> Sequence[Message]:
    return without_picks(messages)


SERVES = frozenset({"skills.dial-prompt", "skills.dial-skill", f"tool_sets.internal.{TOOL_NAME}"})
skills = Capability("skills", SERVES, prepare)
