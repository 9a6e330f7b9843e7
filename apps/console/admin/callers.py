"""The names of those on whose behalf something runs."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from apps.accounts.buckets import place_of
from apps.accounts.models import ApiKey, Team
from apps.integers import read_integer


def caller_names(buckets: Iterable[str]) -> dict[str, str]:
    """The names of users, of API keys and of teams, by bucket; of all others, the bucket itself."""
    wanted = set(buckets)
    places = {one: place for one in wanted if (place := place_of(one)) is not None}
    in_teams = {one: f"{place[1]}" for one, place in places.items() if place[1] is not None}
    prefixes = [one[4:] for one in wanted if one.startswith("key-")]
    names = dict(
        User.objects.filter(pk__in={user for user, _ in places.values()}).values_list(
            "pk", "username"
        )
    )
    alone = {one[5:]: one for one in wanted if one.startswith("team-")}
    teams = team_names({*in_teams.values(), *alone})
    keys = ApiKey.objects.filter(prefix__in=prefixes).values_list("prefix", "name")
    return {
        **{bucket: bucket for bucket in wanted},
        **{one: names[user] for one, (user, _) in places.items() if user in names},
        **{
            one: f"{names[places[one][0]]} in {teams.get(team, 'a deleted team')}"
            for one, team in in_teams.items()
            if places[one][0] in names
        },
        **{bucket: teams[number] for number, bucket in alone.items() if number in teams},
        **{f"key-{prefix}": f"key {name}" for prefix, name in keys},
    }


def team_names(numbers: Iterable[str]) -> dict[str, str]:
    """The names of teams, by their ids."""
    known = [number for one in numbers if (number := read_integer(one)) is not None]
    if not known:
        return {}
    rows = Team.objects.filter(pk__in=known).values_list("pk", "group__name")
    return {str(pk): name for pk, name in rows}
