"""Users of the admin, and the texts of its pages."""

from __future__ import annotations

from html import unescape
from re import sub
from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client
from rest_framework.test import APIClient

from tests.catalog.rows import make_operator


def signed_in(name: str = "operator") -> Client:
    """Return the browser of a superuser."""
    return browser_of(make_operator(name))


def staff(*permissions: str) -> Client:
    """Return the browser of a staff user with these permissions, and all applications."""
    return browser_of(staff_account("staff", "access_all_applications", *permissions))


def staff_account(name: str, *permissions: str, **fields: Any) -> User:
    user = User.objects.create_user(name, is_staff=True, **fields)
    permit(user, *permissions)
    return user


def permit(user: User, *permissions: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=permissions))


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def script_of(user: User) -> APIClient:
    """Return a client of `/api/` with the session of the account."""
    client = APIClient()
    client.force_login(user)
    return client


def words(answer: Any) -> str:
    """Return the text of the page without its markup."""
    return unescape(sub(r"\s+", " ", sub(r"<[^>]+>", "", answer.text)))
