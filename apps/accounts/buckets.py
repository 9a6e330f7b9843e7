"""The names of buckets: who owns files, conversations and memories.

A person has one for themselves, and one for each team that they work in, so that nothing of one
is found in another.
"""

import re
from typing import Any

from django.db.models import Q

from apps.accounts.caller import Caller

_form = re.compile(r"user-(\d+)(?:-team-(\d+))?", re.ASCII)


def bucket_of(user_id: int | None, team: int | None = None) -> str:
    return f"user-{user_id}" if team is None else f"user-{user_id}-team-{team}"


def place_of(bucket: str) -> tuple[int, int | None] | None:
    """The ids of the person and the team whose bucket this is; None for other ones."""
    found = _form.fullmatch(bucket)
    if found is None:
        return None
    return int(found[1]), int(found[2]) if found[2] else None


def personal(bucket: str) -> str:
    """The bucket of the same person for themselves; any other as it is."""
    place = place_of(bucket)
    return bucket if place is None else bucket_of(place[0])


def of_person(user_id: int, column: str = "bucket") -> Q:
    """Rows of all that is a person's, wherever they work, by the column that has their bucket."""
    name = bucket_of(user_id)
    return Q((column, name)) | Q((f"{column}__startswith", f"{name}-team-"))


def caller_in(user_id: int | None, team: int | None = None, **fields: Any) -> Caller:
    """A person who works in a team, or for themselves."""
    bucket = bucket_of(user_id, team)
    return Caller(bucket, "user", user_id=user_id, team=team, **fields)
