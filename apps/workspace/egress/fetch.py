"""Fetches URLs that models and users provide: only from public addresses, without credentials, and
with limits on size and time.

The client checks every address before it connects. This module follows redirects itself, and checks
each of them in the same way as the first URL.
"""

import asyncio
import hashlib
import mimetypes
import re
import socket
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from typing import Literal
from urllib.parse import unquote, urlsplit

from django.conf import settings

from apps.errors import EgressRefused, FileRefused
from apps.workspace.egress.bodies import ResponseBodyTooLarge, read_body
from apps.workspace.egress.clients import (
    URL,
    HTTPError,
    InvalidURL,
    Response,
    Timeout,
    TimeoutException,
    find_client,
    parse_url,
)
from apps.workspace.egress.fetch_policy import BARRIERS, FetchPolicy

UNKNOWN_TYPE = "application/octet-stream"
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_charset = re.compile(r"\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)
NAME_BYTES = 200
"""The maximum length of a file name in bytes. File systems allow 255 bytes, so there is room for a
prefix.
"""


FetchReason = Literal[
    "size_limit", "ssrf_block", "redirect_cap", "timeout", "transport",
    "admin", "builder", "admin_allowlist", "builder_allowlist",
]  # fmt: skip
"""The reason why a file was not fetched from the internet. The last four are names of settings that
can forbid a fetch.
"""


class FetchRefused(FileRefused):
    def __init__(self, reason: FetchReason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A downloaded file. `content_type` has no parameters, and `filename` has no path. `charset` is
    "" if the server did not send it.
    """

    content: bytes = field(repr=False)
    content_type: str
    filename: str
    charset: str = ""


async def fetch(url: str, policy: FetchPolicy, limit: int, *, seconds: float) -> FetchedFile:
    """Send a GET request and follow its redirects, within `seconds`. `limit` is the maximum size in
    bytes, both compressed and decompressed.

    Raises `FetchRefused` with the reason for any failure. The error message contains the URL
    without its query and credentials.
    """
    try:
        async with asyncio.timeout(seconds):
            return await follow(url, policy, limit, seconds)
    except ResponseBodyTooLarge as error:
        raise refusal("size_limit", url) from error
    except (TimeoutError, TimeoutException) as error:
        raise refusal("timeout", url) from error
    except EgressRefused as error:
        raise refusal("ssrf_block", url) from error
    except (HTTPError, InvalidURL) as error:
        raise refusal(failure_reason(error), url) from error


async def follow(url: str, policy: FetchPolicy, limit: int, seconds: float) -> FetchedFile:
    if barrier := policy.find_disabling_setting():
        raise refusal(barrier, url)
    timeout = Timeout(seconds, connect=settings.EXTERNAL_URL_FETCH_CONNECT_TIMEOUT_SECONDS)
    address = read_address(url, url)
    for _ in range(settings.EXTERNAL_URL_FETCH_MAX_REDIRECTS + 1):
        if barrier := policy.find_barrier(address.host):
            raise refusal(barrier, url)
        async with find_client(policy.trust).stream("GET", address, timeout=timeout) as response:
            target = response.headers.get("location", "")
            if response.status_code not in REDIRECTS or not target:
                return await read_file(response, address, limit, url)
            address = read_address(str(address.join(target)), url)
    raise refusal("redirect_cap", url)


def read_address(text: str, requested: str) -> URL:
    """Return the URL without the username and password, which the client would otherwise send as a
    header.

    Raises `FetchRefused` if the URL is not an HTTP URL, and `InvalidURL` if it is invalid.
    """
    if not is_http_address(text):
        if text != requested:  # The URL is the target of a redirect.
            raise refusal("ssrf_block", requested)
        shown = redact_url(requested)
        raise FetchRefused("ssrf_block", f"External URL {shown} is not a valid HTTP URL.")
    return parse_url(text).copy_with(userinfo=b"", fragment=None)


def is_http_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_port = parts.port != 0
    except ValueError:
        return False
    is_host = bool(parts.hostname) and not any(map(str.isspace, parts.netloc))
    return parts.scheme in {"http", "https"} and is_host and is_port and text == text.strip()


async def read_file(response: Response, address: URL, limit: int, requested: str) -> FetchedFile:
    if response.status_code != HTTPStatus.OK:
        raise refusal("transport", requested, f"The server returned status {response.status_code}.")
    content = await read_body(response, limit)
    media_type, _, options = response.headers.get("content-type", "").partition(";")
    media_type = media_type.strip().lower()
    content_type = media_type if _media_type.fullmatch(media_type) else ""
    charset = _charset.search(options)
    disposition = response.headers.get("content-disposition", "")
    name = name_of_file(str(address), disposition, content_type)
    guessed = content_type or mimetypes.guess_type(name)[0] or UNKNOWN_TYPE
    return FetchedFile(content, guessed, name, charset[1].lower() if charset else "")


def failure_reason(error: Exception) -> FetchReason:
    # An unknown host is reported like a blocked host.
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, socket.gaierror | InvalidURL):
            return "ssrf_block"
        if isinstance(seen, TimeoutError):
            return "timeout"
        seen = seen.__cause__ or seen.__context__
    return "transport"


OUTCOMES: dict[FetchReason, str] = {
    "size_limit": "exceeds the configured file-size limit.",
    "ssrf_block": (
        "resolves to a blocked address (loopback, private, link-local, or cloud-metadata)."
    ),
    "redirect_cap": "exceeded the configured redirect limit.",
    "timeout": "timed out.",
    "transport": "could not be fetched.",
}


def refusal(reason: FetchReason, url: str, detail: str = "") -> FetchRefused:
    if reason in BARRIERS:
        return FetchRefused(reason, BARRIERS[reason])
    text = f"External URL {redact_url(url)} {OUTCOMES[reason]} {detail}"
    return FetchRefused(reason, text.rstrip())


SHOWN_CHARACTERS = 200


def redact_url(url: str) -> str:
    """Return a URL for messages, without credentials, query and fragment. A data: URI is reduced to
    its scheme.
    """
    scheme, colon, _ = url.strip().partition(":")
    if colon and scheme.lower() == "data":
        return "data:…"
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return f"{scheme}:…" if colon and scheme.isalnum() else "(unreadable)"
    host = parts.netloc.rpartition("@")[2]
    named = parts._replace(netloc=host, query="", fragment="").geturl()
    named = "".join(c if c.isprintable() else "�" for c in named)
    return named if len(named) <= SHOWN_CHARACTERS else f"{named[:SHOWN_CHARACTERS]}…"


def name_of_file(url: str, disposition: str, content_type: str) -> str:
    """Return the file name from the Content-Disposition header. If there is none, use the URL's
    path or, as a last resort, a hash of the URL.
    """
    name = usable_name(disposition_name(disposition)) or usable_name(name_in_address(url))
    if name:
        return name
    digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16]
    return f"external-{digest}{mimetypes.guess_extension(content_type) or ''}"


def disposition_name(disposition: str) -> str:
    """Return the file name in a Content-Disposition header, or "" if there is none."""
    if not disposition:
        return ""
    header = Message()
    header["Content-Disposition"] = disposition
    try:
        return header.get_filename("") or ""
    except (LookupError, UnicodeError):  # The character set is unknown.
        return ""


def name_in_address(url: str) -> str:
    """Return the decoded file name at the end of a URL, or "" if there is none."""
    try:
        return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    except ValueError:
        return ""


def usable_name(name: str) -> str:
    """Return the last part of a path, cleaned and shortened for storage, or "" if nothing
    remains.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    clean = "".join(c for c in last if c.isprintable()).strip(" .")
    if len(clean.encode("utf-8", "replace")) <= NAME_BYTES:
        return clean
    stem, dot, ending = clean.rpartition(".")
    if not stem or len(ending) > 16:
        stem, dot, ending = clean, "", ""
    room = NAME_BYTES - len(f"{dot}{ending}".encode("utf-8", "replace"))
    return f"{stem.encode('utf-8', 'replace')[:room].decode('utf-8', 'ignore')}{dot}{ending}"
