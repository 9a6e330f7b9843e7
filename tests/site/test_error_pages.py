"""Error pages depend on nothing that may have failed."""

from __future__ import annotations

import pytest
from django.template.loader import get_template
from django.test import Client


@pytest.mark.parametrize(
    "name",
    ["400.html", "403.html", "403_csrf.html", "404.html", "429.html", "500.html"],
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
    assert "You don’t have access to this page" in answer.text
