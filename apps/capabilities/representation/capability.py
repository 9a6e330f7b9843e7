"""Defines the tool with which the model adds attachments to its answer by URL."""

import mimetypes
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy

from apps.agent.messages import Attachment, ModelMessage
from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Capability, Key, Open, Opening
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.internal import (
    PlatformTool,
    internal_tool,
    open_with,
    parameters,
    plain_result,
    text_parameter,
)
from apps.capabilities.wrappers.value_texts import TITLE_CHARACTERS, one_line
from apps.errors import FileRefused, InvalidParameter
from apps.manifest.manifest import Manifest
from apps.workspace.egress.fetch import redact_url
from apps.workspace.loading.file_locations import FileLocation, locate_file
from apps.workspace.loading.loader import last_segment, url_key

URL = "url"
TITLE = "title"
ANY_TYPE = "*/*"
"""DIAL's media type for a link whose content is unknown."""
MOST_ADDED = 50
"""The model can add up to this many attachments to one answer."""
ADDED = Key[set[str]]("added_attachments")
POSSIBLE = "Use paths of files (files/…), http(s) URLs or data: URIs."
TOOL_NAME = "internal_representation_add_attachment"
DESCRIPTION = (
    "Adds a file or a link to the attachments of your answer, where the user can open it. "
    "Use it for what the user should see, once for each URL."
)
PARAMETERS = parameters(
    {
        URL: text_parameter(
            "The path of a file (files/…), a path relative to your own folder, an http(s) URL or a "
            "data: URI."
        ),
        TITLE: text_parameter("The title for the user. The default is the name of the file."),
    },
    URL,
)


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.representation_tooling if manifest.features is not None else None
    if wanted is None or not wanted.add_attachment:
        return None
    declared = PlatformTool(
        TOOL_NAME,
        DESCRIPTION,
        PARAMETERS,
        gettext_lazy("Add attachment"),
        "read-only",
        addresses=frozenset({URL, TITLE}),
    )
    return open_with(internal_tool(manifest, declared, add_attachment))


async def add_attachment(opening: Opening, invocation: Invocation) -> ToolResult:
    """Add an attachment to the answer. Raises `InvalidParameter` if the URL cannot be attached, and
    `ServiceFailed` if the file storage is unavailable.
    """
    added = opening.findings.get_or_make(ADDED, set)
    location = read_location(str(invocation.arguments[URL]))
    title = one_line(str(invocation.arguments.get(TITLE) or ""), TITLE_CHARACTERS)
    attachment = await attachment_at(opening, location, title, invocation.messages)
    key = url_key(attachment.url or "")
    if key in added:
        text = f"{attachment.title!r} is already an attachment of the answer."
        return plain_result(invocation, text)
    if len(added) >= MOST_ADDED:
        raise refusal(
            f"the answer already has {MOST_ADDED} attachments of this kind, which is the limit."
        )
    added.add(key)
    result = plain_result(invocation, f"{attachment.title!r} is now an attachment of the answer.")
    return replace(result, propagated=(attachment,))


def read_location(given: str) -> FileLocation:
    """Parse a URL. Raises `InvalidParameter` if it cannot be attached."""
    try:
        location = locate_file(bare(given.strip()))
    except FileRefused as error:
        raise refusal(str(error)) from error
    if location.kind == "unsupported":
        raise refusal(f"{redact_url(given)!r} cannot be attached. {POSSIBLE}")
    if location.kind == "external" and has_userinfo(location.address):
        raise refusal(f"the URL {redact_url(given)} contains a username or password; remove them.")
    return location


def has_userinfo(url: str) -> bool:
    try:
        # Browsers treat a backslash as a slash, but Python does not.
        return "@" in urlsplit(url.replace("\\", "/")).netloc or "@" in urlsplit(url).netloc
    except ValueError:
        return True


async def attachment_at(
    opening: Opening, location: FileLocation, title: str, messages: Sequence[ModelMessage]
) -> Attachment:
    """Return the attachment for a URL. Raises `InvalidParameter` if the file cannot be used.

    A `data:` URI is stored as one of the caller's files. A link is not fetched.
    """
    if location.kind == "external":
        return link(location.address, title, messages)
    loader = opening.loader
    try:
        if location.kind == "data":
            info = await loader.promote(location.address)
        else:
            info = await loader.in_time(
                location.address, loader.look_up(location.address, location)
            )
    except FileRefused as error:
        raise refusal(str(error)) from error
    return Attachment(info.content_type, title or last_segment(info.path), url=info.path)


def link(url: str, title: str, messages: Sequence[ModelMessage]) -> Attachment:
    """Return a link as an attachment. Its type and title come from an attachment in the
    conversation with the same URL, if any.
    """
    attached = (item for message in messages for item in message.attachments)
    same = (item for item in attached if url in (item.url, item.reference_url))
    known = next(same, Attachment(""))
    kind = known.type or mimetypes.guess_type(last_segment(url))[0] or ANY_TYPE
    name = last_segment(url) if urlsplit(url).path.strip("/") else redact_url(url)
    return Attachment(kind, title or known.title or name, url=url, reference_url=url)


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(URL, problem)


SERVES = frozenset({"features.representation_tooling"})
representation = Capability("representation", SERVES, prepare)
