"""Files on their way to a deployment."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from apps.agent.messages import Attachment
from apps.capabilities.deployment.parameters import FILES, QUERY
from apps.capabilities.wrappers.attachments import matches
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.port import DeploymentInfo, Workspace

MOST_FILES = 50
SHOWN = 100
"""Characters of an address that a message repeats."""

_prefix = re.compile(r"/*file:\w*::", re.IGNORECASE)
_scheme = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The bytes of a file; `path` is where it is kept, "" for one that came with the call."""

    title: str
    type: str
    content: bytes
    path: str = ""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """How files reach one deployment."""

    info: DeploymentInfo
    workspace: Workspace
    most_bytes: int

    async def attach_all(self, urls: Sequence[str]) -> tuple[Attachment, ...]:
        """In their order. One that fails fails all, once the others are done.

        Raises `InvalidParameter`.
        """
        if len(urls) > MOST_FILES:
            raise refusal(f"there are {len(urls)} files; at most {MOST_FILES} are possible.")
        outcomes = await asyncio.gather(*map(self.attach, urls), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return tuple(item for item in outcomes if isinstance(item, Attachment))

    async def attach(self, url: str) -> Attachment:
        """Raises `InvalidParameter`."""
        place = _prefix.sub("", url.strip(), count=1)
        if self.info.files == "none":
            raise refusal(
                f"the deployment {self.info.id!r} takes no files. Put what it has to know "
                f"into {QUERY}."
            )
        scheme = _scheme.match(place)
        match scheme[1].lower() if scheme else "":
            case "":
                return await self.deliver(await self.load(place))
            case "data":
                return await self.deliver(read_data(place, self.most_bytes))
            case "http" | "https":
                return self.refer(place)
            case _:
                raise refusal(f"{shown(place)} is no file that can be sent. {POSSIBLE}")

    def refer(self, url: str) -> Attachment:
        """An address that the deployment fetches itself."""
        if not self.info.features.get("url_attachments"):
            raise refusal(
                f"the deployment {self.info.id!r} fetches nothing from the Internet, "
                f"so it cannot be sent {shown(url)}. {POSSIBLE}"
            )
        return Attachment("*/*", last_segment(url), url=url, reference_url=url)

    async def load(self, path: str) -> Loaded:
        try:
            found = await self.workspace.read_file(path)
        except FileRefused as error:
            raise refusal(f"{error} {POSSIBLE}") from error
        check_size(len(found.content), self.most_bytes)
        info = found.info
        return Loaded(last_segment(info.path), info.content_type, found.content, info.path)

    async def deliver(self, file: Loaded) -> Attachment:
        accepted = self.info.input_attachment_types
        if accepted and not matches(file.type, accepted):
            raise refusal(
                f"the deployment {self.info.id!r} takes files of the types {', '.join(accepted)}; "
                f"{file.title!r} is of the type {file.type}."
            )
        if self.info.files == "data":
            return Attachment(file.type, file.title, data=as_data(file))
        return Attachment(file.type, file.title, url=file.path or await self.keep(file))

    async def keep(self, file: Loaded) -> str:
        """Write what came with the call into the caller's files; the same again is the same."""
        try:
            info = await self.workspace.write_file(file.title, file.content, file.type)
        except FileRefused as error:
            raise refusal(str(error)) from error
        return info.path


POSSIBLE = "Possible are paths of files (files/…) and data: URIs."


def refusal(problem: str) -> InvalidParameter:
    return InvalidParameter(FILES, problem)


def read_data(uri: str, most_bytes: int) -> Loaded:
    """The bytes of a data: URI. Raises `InvalidParameter`, never with any of them."""
    head, comma, payload = uri[len("data:") :].partition(",")
    kind, *options = (word.strip().lower() for word in head.split(";"))
    if not comma:
        raise refusal("a data: URI has no comma before its data.")
    check_size(len(payload) * 3 // 4 if "base64" in options else 0, most_bytes)
    content = unquote_to_bytes(payload)
    if "base64" in options:
        try:
            content = base64.b64decode(content, validate=True)
        except ValueError as error:
            raise refusal("the data of a data: URI is not valid base64.") from error
    check_size(len(content), most_bytes)
    kind = kind or "text/plain"
    if not _media_type.fullmatch(kind):
        raise refusal("a data: URI does not begin with a media type.")
    name = f"attachment-{hashlib.sha256(content).hexdigest()[:16]}"
    return Loaded(f"{name}{mimetypes.guess_extension(kind) or '.bin'}", kind, content)


def check_size(size: int, most_bytes: int) -> None:
    if size > most_bytes:
        raise refusal(f"a file has {size:,} bytes; at most {most_bytes:,} are possible.")


def as_data(file: Loaded) -> str:
    """Text as it is, everything else as base64."""
    if file.type.startswith("text/"):
        return file.content.decode("utf-8", "replace")
    return base64.b64encode(file.content).decode()


def last_segment(url: str) -> str:
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or "file"
    except ValueError:
        return "file"


def shown(url: str) -> str:
    """An address without credentials and query, for a message."""
    try:
        parts = urlsplit(url)
        named = f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        named = url.partition(":")[0]
    return ascii(named if len(named) <= SHOWN else f"{named[:SHOWN]}…")
