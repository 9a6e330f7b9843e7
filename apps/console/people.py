"""Searches users, groups and teams by name.

Operators with permission to view accounts or groups find all of them. Other operators find members
of their own groups and teams, and users with a role in the application.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Concat, Trim

from apps.catalog.models import Application

VIEW_USERS = "auth.view_user"
VIEW_GROUPS = "auth.view_group"
MOST_NAMESAKES = 20


def visible_users(operator: Any, application: Application | None = None) -> QuerySet[Any]:
    """Return the users whom an operator may see, sorted by username."""
    rows = get_user_model()._default_manager.all()
    if not operator.has_perm(VIEW_USERS):
        found = Q(pk=operator.pk) | Q(groups__in=operator.groups.order_by().values("pk"))
        if application is not None and application.pk:
            found |= Q(grants__application=application.pk) | Q(applications=application.pk)
        rows = rows.filter(pk__in=rows.filter(found).order_by().values("pk"))
    return rows.order_by("username")


def visible_groups(operator: Any, application: Application) -> QuerySet[Group]:
    """Return the groups and teams that an operator may see, sorted by name."""
    rows = Group.objects.select_related("team")
    if not operator.has_perm(VIEW_GROUPS):
        own = Q(user=operator.pk) | Q(grants__application=application.pk)
        rows = rows.filter(pk__in=Group.objects.filter(own).order_by().values("pk"))
    return rows.order_by("name")


def people_named(words: str) -> list[int]:
    """Return the IDs of the users whose username, full name or email address equals the text."""
    if not (words := words.strip()):
        return []
    users = get_user_model()._default_manager.alias(
        name=Trim(Concat("first_name", Value(" "), "last_name"))
    )
    named = Q(username=words) | Q(email__iexact=words) | Q(name__iexact=words)
    return list(users.filter(named).order_by("pk").values_list("pk", flat=True)[:MOST_NAMESAKES])


def named_like(text: str) -> Q:
    """Return a filter for users whose name or email address contains the text."""
    return (
        Q(username__icontains=text)
        | Q(first_name__icontains=text)
        | Q(last_name__icontains=text)
        | Q(email__icontains=text)
    )
