"""The names of buckets, which own files, conversations and memories.

A user has a personal bucket, and one for each of their teams, so that data of one never appears in
another.
"""

import re

from django.db.models import Q

from apps.accounts.caller import Caller, ClientInfo

_form = re.compile(r"user-(\d+)(?:-team-(\d+))?", re.ASCII)


def bucket_of(user_id: int | None, team: int | None = None) -> str:
    return f"user-{user_id}" if team is None else f"user-{user_id}-team-{team}"


def owner_ids(bucket: str) -> tuple[int, int | None] | None:
    """Return the IDs of the user and the team that own the bucket, or None for other buckets."""
    found = _form.fullmatch(bucket)
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


def personal(bucket: str) -> str:
    """Return the user's personal bucket for one of their team buckets, or any other bucket
    unchanged.
    """
    place = owner_ids(bucket)
    return bucket if place is None else bucket_of(place[0])


def of_person(user_id: int, column: str = "bucket") -> Q:
    """Return a filter for a user's rows in all of their buckets. `column` contains the bucket."""
    name = bucket_of(user_id)
    return Q((column, name)) | Q((f"{column}__startswith", f"{name}-team-"))


def caller_in(user_id: int | None, team: int | None = None, locale: str = "en") -> Caller:
    """Return a user as a caller, in a team or outside teams."""
    bucket = bucket_of(user_id, team)
    return Caller(bucket, "user", user_id=user_id, team=team, client=ClientInfo(locale))
