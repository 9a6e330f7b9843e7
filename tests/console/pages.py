"""Who opens pages of the admin, and what they read there."""

from __future__ import annotations

from html import unescape
from re import sub
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.catalog.rows import make_operator


def signed_in(name: str = "operator") -> Client:
    """The browser of somebody who may do everything."""
    client = Client()
    client.force_login(make_operator(name))
    return client


def staff(*permissions: str) -> Client:
    """The browser of somebody who may do that in the admin, with all applications."""
    user = User.objects.create_user("staff", is_staff=True)
    wanted = ("access_all_applications", *permissions)
    user.user_permissions.set(Permission.objects.filter(codename__in=wanted))
    client = Client()
    client.force_login(user)
    return client


def words(answer: Any) -> str:
    """What the page says, without its markup."""
    return unescape(sub(r"\s+", " ", sub(r"<[^>]+>", "", answer.content.decode())))
