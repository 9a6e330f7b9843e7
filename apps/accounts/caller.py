"""The caller: the user or program for which a run works."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["visitor", "user", "key", "dial"]
"""Names the kind of caller. `dial` means that DIAL Core authenticated the caller and created
`api_key` for this one request.
"""

Surface = Literal["", "page"]
"""Names the client that the user uses. "page" is the chat page, whose scripts can execute calls."""


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """Describes the client that sent a request, as the request describes it."""

    locale: str = "en"
    timezone: str = ""
    """The IANA name of the user's time zone is "" if it is unknown."""
    surface: Surface = ""
    address: str = ""
    """The network address that the request came from is "" if it is not needed."""
    channel: str = ""
    """DIAL's client channel is "" if the request names none."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """These request headers (`X-…`) can be forwarded, in their original spelling."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """Contains the `traceparent` and `tracestate` headers of the request, if it has them."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Other services recognize the caller by these secrets."""

    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """A key can have these limits: the applications that it may use, and its rates."""

    scope: frozenset[int] | None = None
    """The key can use only the applications with these IDs. None means no limit."""
    version: int | None = None
    """The key can use only this version of its application. None means no limit."""
    requests_per_minute: int | None = None
    """None means the default of the installation, and 0 means no limit. The same applies to
    `tokens_per_minute`.
    """
    tokens_per_minute: int | None = None

    def include(self, application: int) -> bool:
        return self.scope is None or application in self.scope


@dataclass(frozen=True, slots=True)
class Caller:
    """A run acts for this user, program or visitor.

    `bucket` names the owner of files and conversations (`user-7`, `key-ab12cd34`, `session-…`). It
    is an identifier, never a credential.
    """

    bucket: str
    folder: str = field(default="", kw_only=True)
    """New files are stored in this folder of the bucket, `conversations/{id}/`, or in the bucket
    itself if it is "".
    """
    kind: Kind = "visitor"
    user_id: int | None = None
    key_user_id: int | None = None
    """The ID of the user who owns the key is None for a key of the installation."""
    is_own_key: bool = False
    """True for a key that its user created, and for each key of a service account."""
    team: int | None = None
    """The caller works in the team with this ID. None means outside teams."""
    end_user: str = ""
    """A program that sends a request with a key can name the user for whom it sends the request.
    Otherwise, this is "".
    """
    is_remembered: bool = True
    """False if this conversation neither uses nor changes its user's memory."""
    appdata: str = ""
    """DIAL Core returns `{bucket}/appdata/{application}` for its key: the bucket that the
    application writes to, and the application that the key was created for. "" if Core was not
    asked.
    """
    client: ClientInfo = ClientInfo()
    credentials: Credentials = Credentials()
    limits: KeyLimits = KeyLimits()

    def at(self, **changes: Any) -> "Caller":
        """Return the caller with changes to its `client`."""
        return replace(self, client=replace(self.client, **changes))

    @property
    def principal(self) -> int | None:
        """Return the ID of the account whose permissions the caller has. Visitors, and keys of the
        installation, have none.
        """
        return self.key_user_id if self.user_id is None else self.user_id

    @property
    def person(self) -> int | None:
        """Return the ID of the account whose notes, schedules and team the caller sees.

        It is `principal`, but None for a key that another user created: this key can use
        applications, but cannot read its user's data.
        """
        return self.principal if self.user_id is not None or self.is_own_key else None
