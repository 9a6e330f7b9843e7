"""Looks up display names for tables whose rows store only slugs and buckets. A bucket is the ID of
a caller: a user, API key, team or visitor.
"""

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString

from apps.accounts.caller import owner_ids, widget_visitor
from apps.accounts.models import ApiKey, Team
from apps.catalog.models import Application
from apps.integers import read_integer
from apps.workspace.local.deployments.deployment import Deployment

SHOWN_HASH = 6
"""A visitor's name contains this many characters of the bucket, enough to distinguish the visitors
on a page.
"""


def caller_names(buckets: Iterable[str]) -> dict[str, str]:
    """Return the callers' display names by bucket. A bucket without a known caller maps to
    itself.
    """
    wanted = set(buckets)
    places = {one: place for one in wanted if (place := owner_ids(one)) is not None}
    in_teams = {one: f"{place[1]}" for one, place in places.items() if place[1] is not None}
    prefixes = [one[4:] for one in wanted if one.startswith("key-")]
    people = User.objects.filter(pk__in={user for user, _ in places.values()})
    columns = people.only("pk", "username", "first_name", "last_name", "email")
    names = {user.pk: person_name(user) for user in columns}
    alone = {one[5:]: one for one in wanted if one.startswith("team-")}
    teams = team_names({*in_teams.values(), *alone})
    keys = ApiKey.objects.filter(prefix__in=prefixes).values_list("prefix", "name")
    return {
        **{bucket: visitor_name(bucket) or bucket for bucket in wanted},
        **{one: names[user] for one, (user, _) in places.items() if user in names},
        **{
            one: f"{names[places[one][0]]} in {teams.get(team, 'a deleted team')}"
            for one, team in in_teams.items()
            if places[one][0] in names
        },
        **{bucket: teams[number] for number, bucket in alone.items() if number in teams},
        **{f"key-{prefix}": f"key {name}" for prefix, name in keys},
    }


def visitor_name(bucket: str) -> str:
    """Return a name such as "visitor 3f2a9c" for an anonymous visitor's bucket, or "" for any other
    bucket.
    """
    if widget_visitor(bucket) is not None:
        return f"widget visitor {bucket.rpartition('-')[2][:SHOWN_HASH]}"
    kind, _, session = bucket.partition("-")
    return f"visitor {session[:SHOWN_HASH]}" if kind == "session" else ""


def person_name(user: User) -> str:
    """Return the user's full name, or else the email address, or else the username."""
    return user.get_full_name() or user.email or user.get_username()


def shown_caller(bucket: str, names: Mapping[str, str]) -> str | SafeString:
    """Return a table cell with the caller's name. The tooltip is the bucket."""
    name = names.get(bucket, bucket)
    return name if name == bucket else format_html('<span title="{}">{}</span>', bucket, name)


def shown_application(slug: str, titles: Mapping[str, str]) -> str | SafeString:
    """Return a table cell with the application's title. The tooltip is the slug."""
    title = titles.get(slug, slug)
    return title if title == slug else format_html('<span title="{}">{}</span>', slug, title)


def title_of(slug: str) -> str:
    """Return the title of the application with this slug, or the slug itself if it was deleted."""
    return application_titles([slug]).get(slug, slug)


def application_titles(slugs: Iterable[str]) -> dict[str, str]:
    """Return the titles of applications by slug. If several applications share a title, append the
    slug to it.
    """
    return distinct_titles(Application.objects.filter(slug__in=set(slugs)).order_by())


def distinct_titles(rows: QuerySet[Application]) -> dict[str, str]:
    """Return the titles of these applications by slug. If another application has the same title,
    append the slug.
    """
    others = Application.objects.filter(title=OuterRef("title")).exclude(pk=OuterRef("pk"))
    found = rows.annotate(has_namesake=Exists(others)).values_list("slug", "title", "has_namesake")
    return {slug: f"{title} ({slug})" if is_shared else title for slug, title, is_shared in found}


def deployment_titles(names: Iterable[str]) -> dict[str, str]:
    """Return the titles of the deployments by name. Omit deployments that are not stored here."""
    rows = Deployment.objects.filter(deployment_id__in=set(names)).order_by()
    return dict(rows.values_list("deployment_id", "display_name"))


def team_names(numbers: Iterable[str]) -> dict[str, str]:
    """Return the names of teams by team ID. Omit unknown IDs."""
    known = [number for one in numbers if (number := read_integer(one)) is not None]
    if not known:
        return {}
    rows = Team.objects.filter(pk__in=known).values_list("pk", "group__name")
    return {str(pk): name for pk, name in rows}
