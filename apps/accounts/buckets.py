"""Creates and parses the names of buckets, which own files, conversations and memories.

A user has a personal bucket, and a bucket for each of their teams, so that data of one bucket never
appears in another. A visitor of a widget has one bucket, whose name contains the ID of the widget's
application.
"""

import hashlib
import re
from dataclasses import dataclass

from django.db.models import Q

from apps.accounts.caller import Caller, ClientInfo

_form = re.compile(r"user-(\d+)(?:-team-(\d+))?", re.ASCII)
_widget_form = re.compile(r"widget-(\d+)-(visitor|user)-[0-9a-f]{32}", re.ASCII)


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
    found = _form.fullmatch(bucket)
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


def personal(bucket: str) -> str:
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
