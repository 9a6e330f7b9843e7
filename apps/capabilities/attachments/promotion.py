"""Copies attachments with inline data or an external URL to the user's files."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from apps.agent.messages import Attachment, ModelMessage
from apps.capabilities.attachments.policies import PICTURES
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.value_texts import one_line
from apps.errors import FileRefused, InitializationIssue, QuickAppError
from apps.workspace.egress.fetch import redact_url
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.loader import last_segment, url_key
from apps.workspace.media_types import matches_any
from apps.workspace.port import DeploymentInfo
from apps.workspace.stored_files import FileInfo

STATE = "promoted_attachments"
"""The state key under which the paths of copied files are stored, by URL. Later requests in the
conversation reuse these files.
"""
MOST = 50
"""The maximum number of attachments that are copied per conversation."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """The stored files that replace URLs in messages, and the errors for URLs that could not be
    fetched.
    """

    files: Mapping[str, Attachment] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    issues: tuple[InitializationIssue, ...] = ()

    def apply(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        """Replace the URLs in messages with files. Return the same object if nothing changes."""
        if not self.files:
            return messages
        return [
            replace(m, attachments=tuple(self.files.get(a.url or "", a) for a in m.attachments))
            if m.role == "user" and m.attachments
            else m
            for m in messages
        ]

    async def step(self, messages: Sequence[ModelMessage]) -> Sequence[ModelMessage]:
        return self.apply(messages)


PROMOTION = Key[Promotion]("promotion")


def user_attachments(messages: Iterable[ModelMessage]) -> Iterator[Attachment]:
    for message in messages:
        if message.role == "user":
            yield from message.attachments


async def promotion(opening: Opening, deployment_id: str) -> Promotion:
    """Copy the attachments of the run's conversation to the user's files, once per run.

    An attachment that cannot be fetched is reported as an issue. Raises `QuickAppError` if the
    deployment is unknown.
    """
    return await opening.findings.get_or_ask(
        PROMOTION, partial(promote_all, opening, deployment_id)
    )


async def promote_all(opening: Opening, deployment_id: str) -> Promotion:
    given = {a.url: a for a in user_attachments(opening.conversation.messages) if a.url}
    foreign = {url: a for url, a in given.items() if locate_file(url).kind in {"external", "data"}}
    if not foreign:
        return Promotion()
    info = await opening.workspace.facts(deployment_id)
    wanted = [a for a in foreign.values() if not is_fetched_by_deployment(a, info)]
    outcomes = await asyncio.gather(*(promote(a, opening) for a in wanted[:MOST]))
    files: dict[str, Attachment] = {}
    problems: dict[str, str] = {}
    paths: dict[str, str] = {}
    for attachment, outcome in zip(wanted, outcomes, strict=False):
        url = attachment.url or ""
        if isinstance(outcome, FileInfo):
            files[url] = as_file(attachment, outcome)
            paths[url_key(url)] = outcome.path
        else:
            problems[url] = outcome
    for attachment in wanted[MOST:]:
        problems[attachment.url or ""] = f"Only the first {MOST} attachments are fetched."
    if paths:
        opening.conversation.saved[STATE] = paths
    return Promotion(files, problems, tuple(issues(problems, foreign)))


def is_fetched_by_deployment(attachment: Attachment, info: DeploymentInfo) -> bool:
    """Return True if the deployment fetches the attachment's URL itself, so that no copy is needed.

    Services without DIAL's protocol fetch only images.
    """
    is_address = locate_file(attachment.url or "").kind == "external"
    if not is_address or not info.features.get("url_attachments"):
        return False
    return info.files != "none" or matches_any(attachment.type, PICTURES)


async def promote(attachment: Attachment, opening: Opening) -> FileInfo | str:
    """Copy an attachment to the user's files. Return the file, or the error text."""
    url = attachment.url or ""
    loader = opening.loader
    try:
        kept = stored_path(opening.conversation.state, url)
        if kept:
            try:
                return await loader.promote(kept)
            except FileRefused:
                pass  # The file was deleted, or the state is forged.
        return await loader.promote(url)
    except QuickAppError as error:
        return str(error)


def stored_path(state: Mapping[str, Any], url: str) -> str:
    # The client may have changed the state, so the path is read with the caller's permissions.
    paths = state.get(STATE)
    path = paths.get(url_key(url)) if isinstance(paths, Mapping) else None
    return path if isinstance(path, str) and locate_file(path).kind == "stored" else ""


def as_file(attachment: Attachment, info: FileInfo) -> Attachment:
    is_address = locate_file(attachment.url or "").kind == "external"
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
        name = one_line(given[url].title) or redact_url(url)
        yield InitializationIssue(f"{name!r}: {problem}", section="Attachments", is_hard=False)
