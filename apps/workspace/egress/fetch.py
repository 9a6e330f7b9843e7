"""Fetch a URL that a model or a user named: public addresses only, no credentials, bounded.

The client judges every address that it connects to. Redirects are followed here, each judged like
the first URL.
"""

import asyncio
import mimetypes
import re
import socket
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from django.conf import settings

from apps.errors import EgressRefused, FetchReason, FetchRefused
from apps.workspace.egress.bodies import BodyTooLarge, read_body
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
from apps.workspace.egress.file_names import name_of_file

UNKNOWN_TYPE = "application/octet-stream"
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_media_type = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_charset = re.compile(r"\bcharset\s*=\s*[\"']?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fetched:
    """`content_type` has no parameters, `filename` no path; `charset` is "" if none was sent."""

    content: bytes = field(repr=False)
    content_type: str
    filename: str
    charset: str = ""


async def fetch(url: str, policy: FetchPolicy, limit: int, *, seconds: float) -> Fetched:
    """GET with all its redirects, within `seconds`; at most `limit` bytes, packed and unpacked.

    Raises `FetchRefused`, whose text names the URL without its query and credentials.
    """
    try:
        async with asyncio.timeout(seconds):
            return await follow(url, policy, limit, seconds)
    except BodyTooLarge as error:
        raise refusal("size_limit", url) from error
    except (TimeoutError, TimeoutException) as error:
        raise refusal("timeout", url) from error
    except EgressRefused as error:
        raise refusal("ssrf_block", url) from error
    except (HTTPError, InvalidURL) as error:
        raise refusal(failure_reason(error), url) from error


async def follow(url: str, policy: FetchPolicy, limit: int, seconds: float) -> Fetched:
    if wish := policy.judge_switches():
        raise refusal(wish, url)
    timeout = Timeout(seconds, connect=settings.EXTERNAL_URL_FETCH_CONNECT_TIMEOUT_SECONDS)
    address = read_address(url, url)
    for _ in range(settings.EXTERNAL_URL_FETCH_MAX_REDIRECTS + 1):
        if wish := policy.judge(address.host):
            raise refusal(wish, url)
        async with find_client(policy.trust).stream("GET", address, timeout=timeout) as response:
            target = response.headers.get("location", "")
            if response.status_code not in REDIRECTS or not target:
                return await read_file(response, address, limit, url)
            address = read_address(str(address.join(target)), url)
    raise refusal("redirect_cap", url)


def read_address(text: str, asked: str) -> URL:
    """The address without user name and password, which the client would send as a header.

    Raises `FetchRefused` for an address that is not HTTP, and `InvalidURL`.
    """
    address = parse_url(text)
    is_http = address.scheme in {"http", "https"}
    port = 80 if address.port is None else address.port
    if not is_http or not address.host or not 0 < port < 65_536:
        raise refusal("ssrf_block", asked)
    return address.copy_with(userinfo=b"", fragment=None)


async def read_file(response: Response, address: URL, limit: int, asked: str) -> Fetched:
    if response.status_code != HTTPStatus.OK:
        raise refusal("transport", asked, f"The server answered {response.status_code}.")
    content = await read_body(response, limit)
    told, _, options = response.headers.get("content-type", "").partition(";")
    told = told.strip().lower()
    content_type = told if _media_type.fullmatch(told) else ""
    charset = _charset.search(options)
    disposition = response.headers.get("content-disposition", "")
    name = name_of_file(str(address), disposition, content_type)
    guessed = content_type or mimetypes.guess_type(name)[0] or UNKNOWN_TYPE
    return Fetched(content, guessed, name, charset[1].lower() if charset else "")


def failure_reason(error: Exception) -> FetchReason:
    # An unknown host is reported as a blocked one.
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
    text = f"External URL {shown(url)} {OUTCOMES[reason]} {detail}"
    return FetchRefused(reason, text.rstrip())


SHOWN_CHARACTERS = 200


def shown(url: str) -> str:
    """A URL for messages: without credentials, query and fragment; only the scheme of a data: URI."""
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
