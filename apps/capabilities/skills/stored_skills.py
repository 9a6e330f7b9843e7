"""Fetches skills that are stored in a workspace, with the caller's permissions."""

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
from apps.manifest.markdown.skill_document import SkillInvalid, read_skill_document
from apps.workspace.port import Workspace

logger = logging.getLogger(__name__)

MOST_AT_ONCE = 8
"""A run fetches up to this many skills concurrently."""


class SkillAddress(NamedTuple):
    """The kind and URL of a stored skill. URLs are compared as written."""

    kind: Literal["dial-prompt", "dial-skill"]
    url: str

    @property
    def name(self) -> str:
        """Return the last segment of the URL, as a name for a skill that cannot be read."""
        return unquote(self.url.rstrip("/").rpartition("/")[2])[:64] or self.url[:64]


@dataclass(frozen=True, slots=True)
class FetchedSkills:
    """The fetched skills, and the errors of skills that could not be fetched."""

    skills: Mapping[SkillAddress, Skill] = field(default_factory=dict)
    refusals: Mapping[SkillAddress, str] = field(default_factory=dict)
    outage: str = ""
    """The reason why no skill could be fetched, or ""."""

    @property
    def issues(self) -> tuple[InitializationIssue, ...]:
        """Return an issue if an outage prevented skills from being fetched. Errors of individual
        skills are not included.
        """
        if not self.outage:
            return ()
        cause = self.outage.rstrip(".")
        text = f"Skills could not be loaded: {cause}. Only predefined skills are available."
        return (InitializationIssue(text, section=SECTION),)


async def fetch_all(workspace: Workspace, addresses: Iterable[SkillAddress]) -> FetchedSkills:
    """Fetch skills concurrently. Errors are part of the result, because a run continues without
    skills that cannot be fetched.
    """
    wanted = list(dict.fromkeys(addresses))
    turns = asyncio.Semaphore(MOST_AT_ONCE)
    found = await asyncio.gather(
        *(fetch(turns, workspace, address) for address in wanted), return_exceptions=True
    )
    skills: dict[SkillAddress, Skill] = {}
    refusals: dict[SkillAddress, str] = {}
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
                logger.error("Failed to fetch a skill", exc_info=outcome)
                return FetchedSkills(outage=f"{type(outcome).__name__}; see the server's log.")
            case _:
                raise outcome
    if outages and len(outages) == len(wanted):
        return FetchedSkills(outage=outages[0])
    return FetchedSkills(skills, refusals)


async def fetch(turns: asyncio.Semaphore, workspace: Workspace, address: SkillAddress) -> Skill:
    """Fetch a skill. Raises `QuickAppError` if it cannot be read, and `SkillInvalid` if its
    `SKILL.md` is invalid.
    """
    async with turns:
        text, files, problem = await read_skill(workspace, address)
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


async def read_skill(
    workspace: Workspace, address: SkillAddress
) -> tuple[str, tuple[str, ...], str]:
    """Return the `SKILL.md`, the paths of the skill's other files, and the reason why the list of
    paths is incomplete, or "". Raises `QuickAppError` if the skill cannot be read.
    """
    if address.kind == "dial-prompt":
        return await workspace.prompt(address.url), (), ""
    stored = await workspace.skill(address.url)
    return stored.text, stored.files, stored.problem


async def read_file(workspace: Workspace, address: SkillAddress, path: str) -> str:
    """Return the text of a skill's file. Raises `QuickAppError` if it cannot be read."""
    if address.kind == "dial-prompt":
        raise FileMissing("A skill from a prompt has no files.")
    return await workspace.skill_file(address.url, path)
