"""The groups that an identity provider tells of a person, and what they are here."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from apps.accounts.audit import AuditEvent, record
from apps.accounts.buckets import bucket_of
from apps.accounts.models import ClaimMapping, Team


def told_groups(document: Mapping[str, Any], claim: str) -> frozenset[str]:
    """The texts in a claim, which is a text or a list; nothing for any other shape.

    The claim may have dots in its name, as `https://example.org/groups` has, or be inside of
    others, as `realm_access.roles` is.
    """
    found: Any = document.get(claim)
    if found is None:
        found = document
        for name in claim.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(found, str):
        found = [found]
    if not isinstance(found, list):
        return frozenset()
    return frozenset(one for one in found if isinstance(one, str))


def apply_claims(user: User, provider: str, told: frozenset[str], address: str = "") -> None:
    """Put a user into the groups that are mapped, and out of exclusive ones that nobody told."""
    rows = list(ClaimMapping.objects.filter(provider=provider).select_related("group"))
    given = {row.group for row in rows if row.value in told}
    exclusive = {row.group for row in rows if row.is_exclusive}
    if not rows:
        return
    with transaction.atomic():
        held = set(Group.objects.filter(user=user, pk__in=[row.group_id for row in rows]))
        joined, left = given - held, (exclusive & held) - given
        user.groups.add(*joined)
        user.groups.remove(*left)
        for team in Team.objects.filter(group__in=left):
            team.administrators.remove(user)
        names = [f"+{group}" for group in joined] + [f"-{group}" for group in left]
        for name in sorted(names):
            subject = f"{provider}: {name}"
            record(AuditEvent("groups.changed", bucket_of(user.pk), address, subject=subject))
