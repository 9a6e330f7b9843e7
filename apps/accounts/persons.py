"""The person behind a bucket: one person has one for themselves, one for each team and each key."""

from apps.accounts.buckets import place_of
from apps.accounts.models import ApiKey

KEY = "key-"


def person_of(bucket: str) -> int | None:
    """The id of the account; None for visitors, keys of the installation, and keys that are gone."""
    place = place_of(bucket)
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
