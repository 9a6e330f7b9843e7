"""Defines the caller: the user or API client on whose behalf a run acts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["visitor", "user", "key", "dial"]
"""The kind of caller. `dial` means that DIAL Core authenticated the caller and created `api_key`
for this one request.
"""

Surface = Literal["", "page"]
"""The client that the user uses. "page" is the chat page, whose scripts can execute calls."""


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client that sent a request, as the request describes it."""

    locale: str = "en"
    timezone: str = ""
    """The IANA name of the user's time zone, or "" if unknown."""
    surface: Surface = ""
    address: str = ""
    """The network address from which the request was sent, or "" if it is not needed."""
    channel: str = ""
    """DIAL's client channel, or "" if the request specifies none."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Request headers (`X-…`) that can be forwarded, in their original spelling."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """The `traceparent` and `tracestate` headers of the request, if present."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Secrets by which other services identify the caller."""

    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of a key: the applications that it may use, and its rate limits."""

    scope: frozenset[int] | None = None
    """The IDs of the only applications that the key can use. None means no limit."""
    version: int | None = None
    """The only version of its application that the key can use. None means no limit."""
    requests_per_minute: int | None = None
    """None means the default of the installation, and 0 means no limit. The same applies to
    `tokens_per_minute`.
    """
    tokens_per_minute: int | None = None

    def include(self, application: int) -> bool:
        return self.scope is None or application in self.scope


@dataclass(frozen=True, slots=True)
class Caller:
    """The user, API client or visitor on whose behalf a run acts.

    `bucket` identifies the owner of files and conversations (`user-7`, `key-ab12cd34`,
    `session-…`). It is an identifier, never a credential.
    """

    bucket: str
    folder: str = field(default="", kw_only=True)
    """The folder for new files in the bucket, `conversations/{id}/`, or "" for the bucket
    itself.
    """
    kind: Kind = "visitor"
    user_id: int | None = None
    key_user_id: int | None = None
    """The ID of the user who owns the key, or None for a key of the installation."""
    is_own_key: bool = False
    """True for a key that its user created, and for each key of a service account."""
    team: int | None = None
    """The ID of the team in which the caller works. None means outside teams."""
    end_user: str = ""
    """The user on whose behalf a client with a key sends the request, or "" if the request contains
    none.
    """
    is_remembered: bool = True
    """False if this conversation neither uses nor changes its user's memory."""
    appdata: str = ""
    """`{bucket}/appdata/{application}`, which DIAL Core returns for its key: the bucket to which
    the application writes, and the application for which the key was created. The value is "" if
    Core was not called.
    """
    client: ClientInfo = ClientInfo()
    credentials: Credentials = Credentials()
    limits: KeyLimits = KeyLimits()

    def at(self, **changes: Any) -> "Caller":
        """Return a copy of the caller with these changes to its `client`."""
        return replace(self, client=replace(self.client, **changes))

    @property
    def principal(self) -> int | None:
        """Return the ID of the account whose permissions the caller has, or None for visitors and
        keys of the installation.
        """
        return self.key_user_id if self.user_id is None else self.user_id

    @property
    def person(self) -> int | None:
        """Return the ID of the account whose notes, schedules and team the caller sees.

        It is `principal`, but None for a key that another user created: such a key can use
        applications, but cannot read its user's data.
        """
        return self.principal if self.user_id is not None or self.is_own_key else None
