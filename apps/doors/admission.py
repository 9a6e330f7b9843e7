"""Admission at the gateway: who is asking, and for which application.

Our own keys open our own door. Any other key may be DIAL Core's: Core signs nothing, so it is
asked back. It knows no key but its own, and tells for which application a key was made; only for
that one is a manifest used. Which application that is decides the address: a slug of ours
names ours, whatever headers come with it; any other name is that of the application type, and
`X-DIAL-APPLICATION-ID` names the application, whose manifest Core keeps.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.accounts.authentication import authenticate, claimed
from apps.accounts.caller import Caller
from apps.catalog.resolve import resolve, resolve_document
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.applications import find, hidden
from apps.errors import (
    ApplicationBroken,
    ApplicationNotFound,
    NotAuthenticated,
    ServiceFailed,
)
from apps.manifest.names import localized
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, configured_core
from apps.workspace.dial.kept_applications import (
    decoded,
    encoded_name,
    find_caller,
    find_own_application,
    made_for,
)

WhileConnected = Callable[[Coroutine[Any, Any, "Visit"]], Awaitable["Visit"]]


@dataclass(frozen=True, slots=True)
class Visit:
    """Somebody who was let in.

    For those whom DIAL Core sends: `named` is the application (decoded) that the request names,
    and `kept` what Core keeps of it, None if nothing, or if the key was made for another one.
    """

    caller: Caller
    named: str = ""
    kept: Mapping[str, Any] | None = field(default=None, repr=False)

    async def find(self, name: str) -> ResolvedApplication:
        """The application that a request asks for. Raises `QuickAppError`."""
        if self.caller.kind != "dial":
            return await find(name, self.caller)
        own = await find_own(name)
        if own is None:
            return await self.kept_application(name)
        if made_for(self.caller) != name:
            raise hidden(name, self.caller)
        if isinstance(own, ApplicationBroken):
            raise own
        return own

    async def kept_application(self, name: str) -> ResolvedApplication:
        """Raises `NotAuthenticated` for a key of another application, `ApplicationBroken`."""
        if not encoded_name(self.named):
            raise hidden(self.named or name, self.caller)
        if made_for(self.caller) != self.named:
            raise NotAuthenticated
        if self.kept is None:
            raise hidden(self.named, self.caller)
        document = self.kept.get("application_properties")
        if not isinstance(document, Mapping) or not document:
            problem = "application_properties: DIAL Core keeps none for this application."
            raise ApplicationBroken(self.named, (problem,))
        return await resolve_document(self.named, title_of(self.kept) or self.named, document)


async def visit(scope: Mapping[str, Any], while_connected: WhileConnected) -> Visit:
    """Let in whoever sent an ASGI request.

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
    """Ask for whom the key was made, in every request: it is good for one.

    Only then, and only for that application, is what Core keeps of it looked up. Raises
    `NotAuthenticated`, `ServiceFailed`.
    """
    try:
        caller = await find_caller(Calls(core, stranger))
        if not named or made_for(caller) != named:
            return Visit(caller, named=named)
        return Visit(caller, named, await find_own_application(Calls(core, caller)))
    except ServiceFailed as failure:
        if failure.status == 401:
            raise NotAuthenticated from failure
        raise


def named_in(scope: Mapping[str, Any]) -> str:
    """The application that Core names, decoded; "" if it names none."""
    for name, value in scope["headers"]:
        if name == b"x-dial-application-id":
            return decoded(value.decode("utf-8", "replace").strip())
    return ""


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
