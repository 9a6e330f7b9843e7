"""Names users, and finds the user to whom a bucket belongs. A user has a personal bucket, and a
bucket for each team and each API key.
"""

from typing import Any

from apps.accounts.caller import owner_ids
from apps.accounts.models import ApiKey

KEY = "key-"


def display_name(user: Any) -> str:
    """Return the user's full name, or their username if they have no full name."""
    return str(user.get_full_name() or user.get_username())


def name_with_username(user: Any) -> str:
    """Return a name that distinguishes users with the same full name, such as "Anna Berg (anna)", or
    only the username of a user without a full name.
    """
    name, username = display_name(user), user.get_username()
    return name if name == username else f"{name} ({username})"


def person_of(bucket: str) -> int | None:
    """Return the ID of the user to whom the bucket belongs. Return None for visitors,
    installation-wide keys and deleted keys.
    """
    place = owner_ids(bucket)
    if place is not None:
        return place[0]
    if not bucket.startswith(KEY):
        return None
    rows = ApiKey.objects.filter(prefix=bucket.removeprefix(KEY))
    return rows.values_list("user", flat=True).first()


def is_same_person(bucket: str, other: str) -> bool:
    if bucket == other:
        return True
    person = person_of(bucket)
    return person is not None and person == person_of(other)
