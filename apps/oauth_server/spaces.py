"""Determines the spaces in which a program can act for a user: the personal space, and teams."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from apps.accounts.buckets import caller_in
from apps.accounts.teams import teams_of
from apps.catalog.access import usable
from apps.catalog.resolve import versioned_name


@dataclass(frozen=True, slots=True)
class Space:
    """A space in which a program can act: the user's personal space, whose `team` is None, or a
    team.
    """

    team: int | None
    name: str
    application: str
    """The title of the application that the program requests, or "" for all of them."""

    @property
    def value(self) -> str:
        return "" if self.team is None else str(self.team)


def offered_spaces(user: Any, slug: str) -> list[Space]:
    """Return the spaces in which the user can use the application with this slug, or all spaces of
    the user if it is "".
    """
    named = [(None, gettext("Personal")), *((team.pk, str(team)) for team in teams_of(user))]
    if not slug:
        return [Space(team, name, "") for team, name in named]
    titles = [(team, name, find_title(user, team, slug)) for team, name in named]
    return [Space(team, name, title) for team, name, title in titles if title]


def find_title(user: Any, team: int | None, slug: str) -> str:
    """Return the title of an application that the user can use in the space, or ""."""
    found = usable(caller_in(user.pk, team)).filter(slug=versioned_name(slug)[0])
    return found.values_list("title", flat=True).first() or ""


def chosen_space(spaces: Sequence[Space], team: int | None) -> Space | None:
    """Return the team's space, or the first space if the team is not offered. Return None if there
    are no spaces.
    """
    chosen = [space for space in spaces if space.team == team]
    return next(iter([*chosen, *spaces]), None)
