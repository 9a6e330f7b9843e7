"""What the user attached by an address of the Internet becomes a file of the user's."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.agent.messages import Attachment, Message
from apps.capabilities.attachments.policies import PICTURES
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.attachments import matches
from apps.capabilities.wrappers.texts import one_line
from apps.errors import FileRefused, InitializationIssue, QuickAppError
from apps.workspace.egress.fetch_names import shown
from apps.workspace.loading.loader import key_of, last_segment
from apps.workspace.loading.places import place_of
from apps.workspace.port import DeploymentInfo, FileInfo

STATE = "promoted_attachments"
"""What was kept as which file, so that the next request need not fetch it again: key → path."""
KEY = "promotion"
MOST = 50
"""Attachments of one conversation that are fetched."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """By the address that was given: the file that stands for it, or why there is none."""

    files: Mapping[str, Attachment] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    issues: tuple[InitializationIssue, ...] = ()

    def apply(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages with the files; the very same object when there is nothing to replace."""
        if not self.files:
            return messages
        return [self.apply_one(message) for message in messages]

    def apply_one(self, message: Message) -> Message:
        if message.role != "user" or not message.attachments:
            return message
        return replace(
            message,
            attachments=tuple(self.files.get(a.url or "", a) for a in message.attachments),
        )

    async def step(self, messages: Sequence[Message]) -> Sequence[Message]:
        return self.apply(messages)


def user_attachments(messages: Iterable[Message]) -> Iterator[Attachment]:
    for message in messages:
        if message.role == "user":
            yield from message.attachments


async def promotion(opening: Opening, deployment_id: str) -> Promotion:
    """Done once in a run. What cannot be fetched is an issue; the answer is given without it.

    Raises what the workspace raises when it is asked for the deployment.
    """
    if KEY not in opening.known:
        opening.known[KEY] = await promote_all(opening, deployment_id)
    known: Promotion = opening.known[KEY]
    return known


async def promote_all(opening: Opening, deployment_id: str) -> Promotion:
    given = {a.url: a for a in user_attachments(opening.messages) if a.url}
    foreign = {url: a for url, a in given.items() if place_of(url).kind in {"external", "data"}}
    if not foreign:
        return Promotion()
    info = await opening.workspace.facts(deployment_id)
    wanted = [a for a in foreign.values() if not goes_as_it_is(a, info)]
    outcomes = await asyncio.gather(*(promote(a, opening) for a in wanted[:MOST]))
    files: dict[str, Attachment] = {}
    problems: dict[str, str] = {}
    paths: dict[str, str] = {}
    for attachment, outcome in zip(wanted, outcomes, strict=False):
        url = attachment.url or ""
        if isinstance(outcome, FileInfo):
            files[url] = as_file(attachment, outcome)
            paths[key_of(url)] = outcome.path
        else:
            problems[url] = outcome
    for attachment in wanted[MOST:]:
        problems[attachment.url or ""] = f"Only the first {MOST} attachments are fetched."
    if paths:
        opening.saved[STATE] = paths
    return Promotion(files, problems, tuple(issues(problems, foreign)))


def goes_as_it_is(attachment: Attachment, info: DeploymentInfo) -> bool:
    """Whether the deployment fetches it itself; services that do not speak DIAL fetch pictures."""
    is_address = place_of(attachment.url or "").kind == "external"
    if not is_address or not info.features.get("url_attachments"):
        return False
    return info.files != "none" or matches(attachment.type, PICTURES)


async def promote(attachment: Attachment, opening: Opening) -> FileInfo | str:
    """The file, or why there is none."""
    url = attachment.url or ""
    loader = opening.loader
    try:
        kept = kept_path(opening.state, url)
        if kept:
            try:
                return await loader.promote(kept)
            except FileRefused:
                pass  # it was deleted, or somebody else wrote the state
        return await loader.promote(url)
    except QuickAppError as error:
        return str(error)


def kept_path(state: Mapping[str, Any], url: str) -> str:
    """The state went through other hands: what it names is looked up as the caller's own."""
    paths = state.get(STATE)
    path = paths.get(key_of(url)) if isinstance(paths, Mapping) else None
    return path if isinstance(path, str) and place_of(path).kind == "stored" else ""


def as_file(attachment: Attachment, info: FileInfo) -> Attachment:
    is_address = place_of(attachment.url or "").kind == "external"
    return replace(
        attachment,
        type=info.content_type,
        title=attachment.title or last_segment(info.path),
        url=info.path,
        reference_url=attachment.url if is_address else attachment.reference_url,
    )


def issues(
    problems: Mapping[str, str], given: Mapping[str, Attachment]
) -> Iterator[InitializationIssue]:
    for url, problem in problems.items():
        name = one_line(given[url].title) or shown(url)
        yield InitializationIssue(f"{name!r}: {problem}", section="Attachments", is_hard=False)
