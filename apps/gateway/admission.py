"""The callers of the gateway, and the application that each may use.

Our own keys open our own door. Any other key may be DIAL Core's: Core signs nothing, so it is
asked back. It knows no key but its own, and tells for which application a key was made; only for
that one it tells the manifest. Which application that is decides the address: a slug of ours
names ours, whatever headers come with it; any other name is that of the application type, and
`X-DIAL-APPLICATION-ID` names the application, whose manifest Core keeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from apps.accounts.authentication import authenticate, claimed
from apps.accounts.caller import Caller
from apps.catalog.documents import resolve_document
from apps.catalog.resolve import ResolvedApplication, resolve
from apps.errors import (
    ApplicationBroken,
    ApplicationNotFound,
    NotAuthenticated,
    ServiceFailed,
)
from apps.gateway.base import find, hidden
from apps.manifest.names import localized
from apps.workspace.dial.calls import Calls, mapping
from apps.workspace.dial.core import Core, configured_core, encoded

WhileConnected = Callable[[Coroutine[Any, Any, "Visit"]], Awaitable["Visit"]]
APPDATA = "/appdata/"
UNKNOWN = frozenset({401, 403, 404})
"""With these Core says that there is no such application for this key."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who was let in.

    For those whom DIAL Core sends: `made_for` is the application (decoded) that the key is for,
    `named` the one that the request names, and `kept` what Core keeps of it, None if nothing.
    """

    caller: Caller
    made_for: str = ""
    named: str = ""
    kept: Mapping[str, Any] | None = field(default=None, repr=False)

    async def find(self, name: str) -> ResolvedApplication:
        """The application that a request asks for. Raises `QuickAppError`."""
        if self.caller.kind != "dial":
            return await find(name, self.caller)
        own = await find_own(name)
        if own is None:
            return await self.kept_application(name)
        if self.made_for != name:
            raise hidden(name, self.caller)
        if isinstance(own, ApplicationBroken):
            raise own
        return own

    async def kept_application(self, name: str) -> ResolvedApplication:
        """Raises `NotAuthenticated` for a key of another application, `ApplicationBroken`."""
        if not self.named:
            raise hidden(name, self.caller)
        if self.kept is None:
            raise hidden(self.named, self.caller)
        if self.made_for != self.named:
            raise NotAuthenticated
        document = self.kept.get("application_properties")
        if not isinstance(document, Mapping) or not document:
            problem = "application_properties: DIAL Core keeps none for this application."
            raise ApplicationBroken(self.named, (problem,))
        return await resolve_document(self.named, title_of(self.kept) or self.named, document)


async def visit(scope: Mapping[str, Any], while_connected: WhileConnected) -> Visit:
    """Authenticate the sender of an ASGI request.

    `while_connected` waits for Core's answer as long as the client does. Raises `NotAuthenticated`,
    `ServiceFailed`.
    """
    try:
        return Visit(await authenticate(scope))
    except NotAuthenticated:
        core, stranger = configured_core(), claimed(scope)
        if core is None or stranger is None:
            raise
    return await while_connected(ask_core(core, stranger, named_in(scope)))


# --- Asking Core ------------------------------------------------------------------------------


async def ask_core(core: Core, stranger: Caller, named: str) -> Visit:
    """Anew for each request, as its key is: nothing that Core said of a key outlives its visit.

    Raises `NotAuthenticated`, `ServiceFailed`.
    """
    calls = Calls(core, stranger)
    try:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(calls.get_json("/v1/bucket"))
            kept = group.create_task(fetch_application(calls, named)) if named else None
        buckets = mapping(asked.result())
    except ExceptionGroup as failures:
        raise told(failures.exceptions) from failures
    owner, _, made_for = str(buckets.get("appdata") or "").partition(APPDATA)
    return Visit(
        replace(stranger, bucket=f"dial-{owner or buckets.get('bucket') or ''}"),
        made_for=decoded(made_for.strip("/")),
        named=named,
        kept=kept.result() if kept is not None else None,
    )


async def fetch_application(calls: Calls, named: str) -> Mapping[str, Any] | None:
    """Core's document of an application, None if it knows none for this key."""
    try:
        name = encoded(named)
    except ValueError:
        return None
    try:
        return mapping(await calls.get_json(f"/openai/applications/{name}"))
    except ServiceFailed as failure:
        if failure.status in UNKNOWN:
            return None
        raise


def told(failures: Sequence[Exception]) -> Exception:
    """A key that Core does not know is the caller's mistake; anything else is Core's failure."""
    if any(isinstance(one, ServiceFailed) and one.status == 401 for one in failures):
        return NotAuthenticated()
    return failures[0]


def named_in(scope: Mapping[str, Any]) -> str:
    """The application that Core names, decoded; "" if it names none."""
    for name, value in scope["headers"]:
        if name == b"x-dial-application-id":
            return decoded(value.decode("utf-8", "replace").strip())
    return ""


def decoded(name: str) -> str:
    """Segment by segment. One that hides a slash stays as it is written: it names something else."""
    return "/".join(map(decoded_segment, name.split("/")))


def decoded_segment(written: str) -> str:
    plain = unquote(written)
    return written if "/" in plain else plain


# --- Applications -----------------------------------------------------------------------------


async def find_own(name: str) -> ResolvedApplication | ApplicationBroken | None:
    """The application of ours that has this slug, None if none has."""
    try:
        return await resolve(name)
    except ApplicationBroken as broken:
        return broken
    except ApplicationNotFound:
        return None


def title_of(kept: Mapping[str, Any]) -> str:
    title = kept.get("display_name")
    if isinstance(title, Mapping):
        return localized({str(key): str(text) for key, text in title.items()}, "en")
    return title if isinstance(title, str) else ""
