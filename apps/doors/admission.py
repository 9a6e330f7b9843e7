"""Admits requests from API clients: identifies the caller and the application.

An API key of this installation identifies the caller. Any other key may be from DIAL Core. Core
does not sign requests, so QuickApps asks Core which application the key was created for.

The name in the URL is the slug of an application here, or an application type in Core. For an
application type, the header `X-DIAL-APPLICATION-ID` names the application, and Core stores its
manifest.
"""

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.validators import slug_re

from apps.accounts.audit import AuditEvent
from apps.accounts.authentication import authenticate, read_claimed_caller
from apps.accounts.caller import Caller
from apps.accounts.client_address import address_of_scope
from apps.catalog import resolve
from apps.catalog.resolved_application import ResolvedApplication
from apps.doors.bodies import shorten_text
from apps.errors import (
    ApplicationBroken,
    ApplicationNotFound,
    NotAuthenticated,
    QuickAppError,
    ServiceFailed,
)
from apps.live.hub import HUB
from apps.manifest.names import localize_text
from apps.process_state import AgedCache
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.core import Core, configured_core
from apps.workspace.dial.kept_applications import (
    decode_name,
    encoded_name,
    find_caller,
    find_own_application,
    made_for,
)

ONCE_IN_SECONDS = 60.0
"""The audit log records a denial at most once in this many seconds for each IP address, endpoint
and application, so that retries do not flood it.
"""
DENIALS = NotAuthenticated, ApplicationNotFound
_noted: AgedCache[tuple[str, str, str], bool] = AgedCache()

WhileConnected = Callable[[Coroutine[Any, Any, "Admission"]], Awaitable["Admission"]]


@dataclass(frozen=True, slots=True)
class Admission:
    """The caller of an admitted request and, for a request from DIAL Core, its application."""

    caller: Caller
    named: str = ""
    """The decoded ID of the application in Core, for a request from DIAL Core, otherwise ""."""
    kept: Mapping[str, Any] | None = field(default=None, repr=False)
    """Core's document for the application `named`, or None if the key was created for another
    application.
    """

    async def find(self, name: str) -> ResolvedApplication:
        """Return the requested application. Raises `QuickAppError` if the caller cannot use it.
        `name` is the name in the URL, or the model in the request body.
        """
        if self.caller.kind != "dial":
            return await find_application(name, self.caller)
        own = await find_own(name)
        if own is None:
            return await self.kept_application(name)
        if made_for(self.caller) != name:
            raise hidden_error(name, self.caller)
        if isinstance(own, ApplicationBroken):
            raise own
        return own

    async def kept_application(self, name: str) -> ResolvedApplication:
        """Return the application that Core stores. Raises `NotAuthenticated` if the key was created
        for another application, or `ApplicationBroken` if the manifest is invalid.
        """
        if not encoded_name(self.named):
            raise hidden_error(self.named or name, self.caller)
        if made_for(self.caller) != self.named:
            raise NotAuthenticated
        if self.kept is None:
            raise hidden_error(self.named, self.caller)
        document = self.kept.get("application_properties")
        if not isinstance(document, Mapping) or not document:
            problem = "application_properties: DIAL Core has none for this application."
            raise ApplicationBroken(self.named, (problem,))
        return await resolve.resolve_document(
            self.named, title_of(self.kept) or self.named, document
        )


async def visit(scope: Mapping[str, Any], while_connected: WhileConnected) -> Admission:
    """Identify the caller of an ASGI request, and return the admission.

    `while_connected` cancels the request to Core if the client disconnects. Raises
    `NotAuthenticated` if the credentials are invalid, or `ServiceFailed` if Core is unavailable.
    """
    try:
        return Admission(await authenticate(scope))
    except NotAuthenticated:
        core, claimed = configured_core(), read_claimed_caller(scope)
        if core is None or claimed is None:
            raise
    return await while_connected(find_admission(core, claimed, named_in(scope)))


# --- Asking Core ------------------------------------------------------------------------------


async def find_admission(core: Core, claimed: Caller, named: str) -> Admission:
    """Ask Core which application the caller's key was created for.

    Each request has its own key, so the answer is not cached. Core's document is read only if the
    key was created for the requested application. Raises `NotAuthenticated` if Core rejects the
    key, or `ServiceFailed` if Core is unavailable.
    """
    try:
        caller = await find_caller(Calls(core, claimed))
        if not named or made_for(caller) != named:
            return Admission(caller, named=named)
        return Admission(caller, named, await find_own_application(Calls(core, caller)))
    except ServiceFailed as failure:
        if failure.status == 401:
            raise NotAuthenticated from failure
        raise


def named_in(scope: Mapping[str, Any]) -> str:
    """Return the decoded application ID in the headers of a request from Core, or ""."""
    for name, value in scope["headers"]:
        if name == b"x-dial-application-id":
            return decode_name(value.decode("utf-8", "replace").strip())
    return ""


# --- Applications -----------------------------------------------------------------------------


async def find_own(name: str) -> ResolvedApplication | ApplicationBroken | None:
    """Return the application with this slug, an error if its manifest is invalid, or None if it
    does not exist.
    """
    try:
        return await resolve.resolve_application(name)
    except ApplicationBroken as broken:
        return broken
    except ApplicationNotFound:
        return None


def title_of(kept: Mapping[str, Any]) -> str:
    title = kept.get("display_name")
    if isinstance(title, Mapping):
        return localize_text({str(key): str(text) for key, text in title.items()}, "en")
    return title if isinstance(title, str) else ""


def hidden_error(slug: str, caller: Caller) -> QuickAppError:
    """Return the same error for a missing application and for one that the caller cannot use."""
    # Status 401 shows callers without a key that they may need one.
    return (
        NotAuthenticated() if caller.kind == "visitor" else ApplicationNotFound(shorten_text(slug))
    )


async def find_application(slug: str, caller: Caller) -> ResolvedApplication:
    """Return the application with this slug, or one of its versions (`slug@3`). Raises
    `hidden_error` if the caller cannot use it, or `ApplicationBroken` if its manifest is invalid.
    """
    check_slug(resolve.versioned_name(slug)[0], caller)
    try:
        return await resolve.find(slug, caller)
    except ApplicationNotFound:
        raise hidden_error(slug, caller) from None


def check_slug(slug: str, caller: Caller) -> str:
    """Return the slug. Raises `hidden_error` if it is not a valid slug."""
    if not slug_re.match(slug):
        raise hidden_error(slug, caller)
    return slug


# --- Denials -----------------------------------------------------------------------------------


def note_denial(scope: Mapping[str, Any], door: str, application: str = "") -> None:
    """Write an audit event about a rejected API client. See `ONCE_IN_SECONDS` for the rate."""
    address = address_of_scope(scope)
    key = address, door, application
    if _noted.get(key, ONCE_IN_SECONDS):
        return
    _noted.put(key, True)
    denied = AuditEvent(
        "access.denied", address=address, application=application, subject=scope["path"]
    )
    HUB.summaries.queue_audit(denied)
