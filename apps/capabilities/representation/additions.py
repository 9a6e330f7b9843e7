"""Attachments that the model adds to its answer by their addresses."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from apps.agent.messages import Attachment, Message
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.texts import TITLE_CHARACTERS, one_line
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.egress.fetch_names import shown
from apps.workspace.loading.loader import key_of, last_segment
from apps.workspace.loading.places import Place, place_of

URL = "url"
TITLE = "title"
ANY_TYPE = "*/*"
"""Of a link that nobody has followed, as DIAL writes it."""
MOST_ADDED = 50
"""To one answer; more would only be a wall of cards."""
ADDED = Key[set[str]]("added_attachments")
POSSIBLE = "Possible are paths of files (files/…), http(s) URLs and data: URIs."


async def add_attachment(opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`, and `ServiceFailed` when a file cannot be looked up."""
    added = opening.known.get_or_make(ADDED, set)
    place = read_place(str(invocation.arguments[URL]))
    title = one_line(str(invocation.arguments.get(TITLE) or ""), TITLE_CHARACTERS)
    attachment = await attachment_at(opening, place, title, invocation.messages)
    key = key_of(attachment.url or "")
    if key in added:
        return told(invocation, f"{attachment.title!r} is an attachment of the answer already.")
    if len(added) >= MOST_ADDED:
        raise refusal(f"an answer has at most {MOST_ADDED} attachments of this kind.")
    added.add(key)
    result = told(invocation, f"{attachment.title!r} is an attachment of the answer now.")
    return replace(result, propagated=(attachment,))


def told(invocation: Invocation, text: str) -> ToolResult:
    invocation.stage.write(f"> #### Result:\n\n{text}\n")
    return ToolResult(text, "text/plain")


def read_place(given: str) -> Place:
    """Raises `InvalidParameter`."""
    try:
        place = place_of(bare(given.strip()))
    except FileRefused as error:
        raise refusal(str(error)) from error
    if place.kind == "unsupported":
        raise refusal(f"{shown(given)!r} is nothing that can be attached. {POSSIBLE}")
    if place.kind == "external" and has_userinfo(place.address):
        raise refusal(f"the URL {shown(given)} has a name or a password in it; leave them out.")
    return place


def has_userinfo(url: str) -> bool:
    """Also where browsers see one and Python does not: they read a backslash as a slash."""
    try:
        return "@" in urlsplit(url.replace("\\", "/")).netloc or "@" in urlsplit(url).netloc
    except ValueError:
        return True


async def attachment_at(
    opening: Opening, place: Place, title: str, messages: Sequence[Message]
) -> Attachment:
    """A stored file by its path; what stands in a data: URI is stored; a link stays a link."""
    if place.kind == "external":
        return link(place.address, title, messages)
    loader = opening.loader
    try:
        if place.kind == "data":
            info = await loader.promote(place.address)
        else:
            info = await loader.in_time(place.address, loader.look_up(place.address, place))
    except FileRefused as error:
        raise refusal(str(error)) from error
    return Attachment(info.content_type, title or last_segment(info.path), url=info.path)


def link(url: str, title: str, messages: Sequence[Message]) -> Attachment:
    """With the type and the title that the conversation knows it by, if it does."""
    attached = (item for message in messages for item in message.attachments)
    known = next(
        (item for item in attached if url in (item.url, item.reference_url)), Attachment("")
    )
    kind = known.type or mimetypes.guess_type(last_segment(url))[0] or ANY_TYPE
    return Attachment(kind, title or known.title or name_of(url), url=url, reference_url=url)


def name_of(url: str) -> str:
    """The end of its path, else all of it that may be shown."""
    path = urlsplit(url).path.strip("/")
    return last_segment(url) if path else shown(url)


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(URL, problem)
