"""Skills that a workspace keeps: fetched with the rights of the caller, each once for a run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple
from urllib.parse import unquote

from django.conf import settings

from apps.capabilities.skills.collection import SECTION, Skill
from apps.errors import FileMissing, InitializationIssue, QuickAppError, ServiceFailed
from apps.manifest.skill_document import SkillInvalid, read_skill_document
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""Requests of one run to the service that keeps skills."""


class Address(NamedTuple):
    """`url` as it was written: two spellings of one place are two addresses."""

    kind: Literal["dial-prompt", "dial-skill"]
    url: str

    @property
    def name(self) -> str:
        """What a skill is probably called that cannot be read: the last part of its address."""
        return unquote(self.url.rstrip("/").rpartition("/")[2])[:64] or self.url[:64]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of each address: a skill, or why there is none.

    `outage` is why there is nothing at all, "" if there is.
    """

    skills: Mapping[Address, Skill] = field(default_factory=dict)
    refusals: Mapping[Address, str] = field(default_factory=dict)
    outage: str = ""

    @property
    def issues(self) -> tuple[InitializationIssue, ...]:
        """Of all that failed at once; what failed alone is told by whoever wanted it."""
        if not self.outage:
            return ()
        cause = self.outage.rstrip(".")
        text = f"Skills could not be loaded: {cause}; falling back to predefined-only."
        return (InitializationIssue(text, section=SECTION),)


async def fetch_all(workspace: Workspace, addresses: Iterable[Address]) -> Fetched:
    """Raises nothing: a skill that cannot be had is one that the run goes on without."""
    wanted = list(dict.fromkeys(addresses))
    turns = asyncio.Semaphore(MOST_AT_ONCE)
    found = await asyncio.gather(
        *(fetch_in_turn(turns, workspace, address) for address in wanted), return_exceptions=True
    )
    skills: dict[Address, Skill] = {}
    refusals: dict[Address, str] = {}
    outages: list[str] = []
    for address, outcome in zip(wanted, found, strict=True):
        match outcome:
            case Skill():
                skills[address] = outcome
            case SkillInvalid() | QuickAppError():
                refusals[address] = str(outcome)
                if isinstance(outcome, ServiceFailed) and outcome.reason != "answer":
                    outages.append(str(outcome))
            case Exception():
                logger.error("A skill could not be fetched", exc_info=outcome)
                return Fetched(outage=f"{type(outcome).__name__}; see the server's log.")
            case _:
                raise outcome
    if outages and len(outages) == len(wanted):
        return Fetched(outage=outages[0])
    return Fetched(skills, refusals)


async def fetch_in_turn(turns: asyncio.Semaphore, workspace: Workspace, address: Address) -> Skill:
    async with turns:
        return await fetch(workspace, address)


async def fetch(workspace: Workspace, address: Address) -> Skill:
    """Raises `SkillInvalid`, `QuickAppError`."""
    text, files, problem = await read(workspace, address)
    document = read_skill_document(text, settings.DIAL_SKILLS_FILE_MAX_BYTES)
    return Skill(
        document.name,
        document.description,
        text,
        address.url,
        files,
        partial(read_file, workspace, address),
        problem,
    )


async def read(workspace: Workspace, address: Address) -> tuple[str, tuple[str, ...], str]:
    """The document, the files beside it, and why these are not all."""
    if address.kind == "dial-prompt":
        return await workspace.prompt(address.url), (), ""
    stored = await workspace.skill(address.url)
    return stored.text, stored.files, stored.problem


async def read_file(workspace: Workspace, address: Address, path: str) -> str:
    """Raises `QuickAppError`."""
    if address.kind == "dial-prompt":
        raise FileMissing("A prompt has no files.")
    return await workspace.skill_file(address.url, path)
