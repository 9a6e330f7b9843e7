"""The names of those on whose behalf something runs."""

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.buckets import place_of
from apps.accounts.models import ApiKey, Team
from apps.integers import read_integer


def caller_names(buckets: Iterable[str]) -> dict[str, str]:
    """The names of people, of API keys and of teams, by bucket; of all others, the bucket itself."""
    wanted = set(buckets)
    places = {one: place for one in wanted if (place := place_of(one)) is not None}
    in_teams = {one: f"{place[1]}" for one, place in places.items() if place[1] is not None}
    prefixes = [one[4:] for one in wanted if one.startswith("key-")]
    people = User.objects.filter(pk__in={user for user, _ in places.values()})
    columns = people.only("pk", "username", "first_name", "last_name", "email")
    names = {user.pk: person_name(user) for user in columns}
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


def person_name(user: User) -> str:
    """Return the name of a person, else their e-mail address, else their username."""
    return user.get_full_name() or user.email or user.get_username()


def shown_caller(bucket: str, names: Mapping[str, str]) -> str | SafeString:
    """The name, with the bucket as what a pointer on it shows."""
    name = names.get(bucket, bucket)
    return name if name == bucket else format_html('<span title="{}">{}</span>', bucket, name)


def team_names(numbers: Iterable[str]) -> dict[str, str]:
    """The names of teams, by their ids."""
    known = [number for one in numbers if (number := read_integer(one)) is not None]
    if not known:
        return {}
    rows = Team.objects.filter(pk__in=known).values_list("pk", "group__name")
    return {str(pk): name for pk, name in rows}
