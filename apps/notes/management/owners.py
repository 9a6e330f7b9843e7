"""Whose notes a command is about."""

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from apps.accounts.buckets import bucket_of
from apps.accounts.models import Team
from apps.notes.spaces import owner_of_team


def add_owner_arguments(parser: CommandParser) -> None:
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--user", default="", help="The person whose notes these are.")
    whose.add_argument("--team", default="", help="The team whose notes these are.")


def named_owner(user: str, team: str) -> str:
    """Raises `CommandError`."""
    if team:
        found = Team.objects.filter(group__name=team).first()
        if found is None:
            raise CommandError(f"There is no team named {team!r}.")
        return owner_of_team(found.pk)
    model = get_user_model()
    person = model.objects.filter(**{model.USERNAME_FIELD: user}).first()
    if person is None:
        raise CommandError(f"There is nobody named {user!r}.")
    return bucket_of(person.pk)
