from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def directives(client: Client, path: str) -> dict[str, str]:
    header = client.get(path)["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in header.split(";"))


def test_only_the_admin_may_compile_scripts(client):
    admin = directives(client, "/admin/login/")
    login = directives(client, "/accounts/login/?next=/admin/")

    assert admin["script-src"] == "'self' 'unsafe-eval'"
    assert admin["style-src"] == "'self' 'unsafe-inline'"
    assert "unsafe" not in " ".join(login.values())


def test_exceptions_change_nothing_else(client):
    changed = {"script-src", "style-src"}
    admin, other = directives(client, "/admin/login/"), directives(client, "/api/schema/")

    assert {k: v for k, v in admin.items() if k not in changed} == {
        k: v for k, v in other.items() if k not in changed
    }


def test_the_page_of_the_api_needs_no_exception(client):
    assert directives(client, "/api/docs/") == directives(client, "/api/schema/")
