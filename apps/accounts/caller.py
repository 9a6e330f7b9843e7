"""Defines the caller of a run (the user or API client on whose behalf the run acts), and the
buckets that own callers' files, conversations and memories.

A user has a personal bucket, and a bucket for each of their teams, so that data in one bucket never
appears in another. A visitor of a widget has one bucket, whose name contains the ID of the widget's
application.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from django.db.models import Q

Kind = Literal["visitor", "user", "key", "dial"]
"""The kinds of callers. `dial` means that DIAL Core authenticated the caller and created `api_key`
for this one request.
"""

Surface = Literal["", "page"]
"""The program that sends the user's requests. "page" is the chat page, whose scripts can execute
tool calls; "" is any other program.
"""

_user_form = re.compile(r"user-(\d+)(?:-team-(\d+))?", re.ASCII)
_widget_form = re.compile(r"widget-(\d+)-(visitor|user)-[0-9a-f]{32}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client that sent a request, according to the request's headers."""

    locale: str = "en"
    timezone: str = ""
    """The IANA name of the user's time zone, or "" if it is unknown."""
    surface: Surface = ""
    address: str = ""
    """The network address from which the request was sent, or "" if no part of the run needs it."""
    channel: str = ""
    """The ID of DIAL's client channel, or "" if the request contains none."""
    chain: tuple[str, ...] = ()
    """The applications whose calls led to this request, outermost first."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Request headers (`X-…`) that can be forwarded, in their original spelling."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """The `traceparent` and `tracestate` headers of the request, if present."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets by which other services identify the caller."""

    bearer: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of an API key: the applications that it may use, and its rate limits."""

    scope: frozenset[int] | None = None
    """The IDs of the only applications that the key may use. None means all."""
    version: int | None = None
    """The only version of its application that the key may use. None means any version."""
    requests_per_minute: int | None = None
    """The rate limit. Here and in `tokens_per_minute`, None means the installation's default, and 0
    means no limit.
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
    """The folder for new files, such as `conversations/{id}/`, or "" for the bucket itself."""
    kind: Kind = "visitor"
    user_id: int | None = None
    key_user_id: int | None = None
    """The ID of the user who owns the API key, or None for an installation-wide key."""
    is_own_key: bool = False
    """True for a key that its user created, and for every key of a service account."""
    team: int | None = None
    """The ID of the team in which the caller works. None means outside teams."""
    end_user: str = ""
    """The name of the user on whose behalf an API client sends the request, or ""."""
    is_remembered: bool = True
    """False if the conversation neither uses nor changes the user's memory."""
    appdata: str = ""
    """The path `{bucket}/appdata/{application}` that DIAL Core returns for the request's key, or ""
    if Core was not called. The application writes its files to this bucket.
    """
    client: ClientInfo = ClientInfo()
    credentials: Credentials = Credentials()
    limits: KeyLimits = KeyLimits()

    def at(self, **changes: Any) -> "Caller":
        """Return a copy of the caller with these attributes of its `client` changed."""
        return replace(self, client=replace(self.client, **changes))

    @property
    def principal(self) -> int | None:
        """Return the ID of the account whose permissions the caller has, or None for visitors and
        for installation-wide keys.
        """
        return self.key_user_id if self.user_id is None else self.user_id

    @property
    def person(self) -> int | None:
        """Return the ID of the account whose notes, schedules and team the caller sees, or None.

        Unlike `principal`, it is None for a key that another user created. Such a key can use
        applications, but cannot read its user's data.
        """
        return self.principal if self.user_id is not None or self.is_own_key else None


@dataclass(frozen=True, slots=True)
class WidgetVisitor:
    """A visitor of a widget on another site, who can use only the widget's `application`."""

    application: int
    is_identified: bool
    """True for a user whom the other site has identified in a signed token."""


def widget_bucket(visitor: WidgetVisitor, name: str) -> str:
    """Return the bucket of a widget's visitor. `name` is unique among visitors of the same kind."""
    # The name may be an email address, so only its hash is stored.
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    kind = "user" if visitor.is_identified else "visitor"
    return f"widget-{visitor.application}-{kind}-{digest}"


def widget_visitor(bucket: str) -> WidgetVisitor | None:
    """Return the visitor who owns a widget's bucket, or None for any other bucket."""
    found = _widget_form.fullmatch(bucket)
    return None if found is None else WidgetVisitor(int(found[1]), found[2] == "user")


def bucket_of(user_id: int | None, team: int | None = None) -> str:
    return f"user-{user_id}" if team is None else f"user-{user_id}-team-{team}"


def owner_ids(bucket: str) -> tuple[int, int | None] | None:
    """Return the user ID and the team ID of a user's bucket. The team ID is None for a personal
    bucket. Return None for any other bucket.
    """
    found = _user_form.fullmatch(bucket)
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


def personal_bucket(bucket: str) -> str:
    """Return the personal bucket of the user who owns a bucket. Return other buckets unchanged."""
    place = owner_ids(bucket)
    return bucket if place is None else bucket_of(place[0])


def of_person(user_id: int, column: str = "bucket") -> Q:
    """Return a filter for rows in any bucket of a user. `column` is the column with the bucket."""
    name = bucket_of(user_id)
    return Q((column, name)) | Q((f"{column}__startswith", f"{name}-team-"))


def caller_in(user_id: int | None, team: int | None = None, locale: str = "en") -> Caller:
    """Return the caller for a user who works in a team, or in no team if `team` is None."""
    bucket = bucket_of(user_id, team)
    return Caller(bucket, "user", user_id=user_id, team=team, client=ClientInfo(locale))
