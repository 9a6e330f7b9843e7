"""Finds the owner of the notes that a command exports or imports."""

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import CommandError, CommandParser

from apps.accounts.caller import bucket_of
from apps.accounts.models import Team
from apps.notes.spaces import owner_of_team


def add_owner_arguments(parser: CommandParser) -> None:
    whose = parser.add_mutually_exclusive_group(required=True)
    whose.add_argument("--user", default="", help="The user who owns the notes.")
    whose.add_argument("--team", default="", help="The team that owns the notes.")


def named_owner(user: str, team: str) -> str:
    """Return the ID of a workspace's owner: the team with this name or, if `team` is "", the user
    with this name. Raises `CommandError` if the owner does not exist.
    """
    if team:
        found = Team.objects.filter(group__name=team).first()
        if found is None:
            raise CommandError(f"Unknown team: {team!r}.")
        return owner_of_team(found.pk)
    return bucket_of(named_user(user).pk)


def named_user(user: str) -> AbstractBaseUser:
    """Return the user with this name. Raises `CommandError` if the user does not exist."""
    model = get_user_model()
    person = model.objects.filter(**{model.USERNAME_FIELD: user}).first()
    if person is None:
        raise CommandError(f"Unknown user: {user!r}.")
    return person
