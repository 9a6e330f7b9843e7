"""Error pages depend on nothing that may have failed."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.template.loader import get_template
from django.test import Client


@pytest.mark.parametrize(
    "name",
    ["400.html", "403.html", "403_csrf.html", "404.html", "405.html", "429.html", "500.html"],
)
def test_an_error_page_needs_neither_a_request_nor_a_context(name: str) -> None:
    page = get_template(name).render()

    assert "<h1>" in page
    assert 'href="/"' in page


@pytest.mark.django_db
def test_a_form_without_its_token_gets_our_page() -> None:
    strict = Client(enforce_csrf_checks=True)

    answer = strict.post("/accounts/login/", {"username": "zoe"})

    assert answer.status_code == 403
    assert "This form has expired" in answer.text
    assert "You don’t have access to this page" not in answer.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accept", "has_sidebar"), [("text/html", True), ("image/png", False), ("", False)]
)
def test_a_missing_page_keeps_the_sidebar_of_a_signed_in_user(
    client: Client, admin_user: User, accept: str, has_sidebar: bool
) -> None:
    client.force_login(admin_user)

    answer = client.get("/nowhere/", headers={"accept": accept})

    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert ('id="sidebar"' in answer.text) is has_sidebar


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("accept", "text"),
    [("text/html", "A button on another page uses this URL."), ("application/json", "")],
)
def test_a_bookmark_of_the_url_of_a_form_is_no_blank_page(
    client: Client, admin_user: User, accept: str, text: str
) -> None:
    visitor_answer = client.get("/prompts/import/", headers={"accept": accept})
    client.force_login(admin_user)
    answer = client.get("/prompts/import/", headers={"accept": accept})

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert text in answer.text
    assert ('id="sidebar"' in answer.text) is bool(text)
    assert 'id="sidebar"' not in visitor_answer.text


@pytest.mark.django_db
def test_a_visitor_gets_a_plain_error_page(client: Client) -> None:
    answer = client.get("/nowhere/", headers={"accept": "text/html"})

    assert answer.status_code == 404
    assert 'id="sidebar"' not in answer.text


@pytest.mark.django_db
def test_an_error_page_does_without_a_sidebar_that_fails(
    client: Client, admin_user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("The list of conversations is broken.")

    client.force_login(admin_user)
    monkeypatch.setattr("apps.chat.rail.content.first_page", fail)

    answer = client.get("/nowhere/", headers={"accept": "text/html"})

    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert 'id="sidebar"' not in answer.text
