from __future__ import annotations

import gzip
import re

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from tests.chat.widget.widgets import SHOP, add_widget

pytestmark = pytest.mark.django_db


def policy_of(response: object) -> dict[str, str]:
    written = response.headers["Content-Security-Policy"]  # type: ignore[attr-defined]
    return dict(re.findall(r"([a-z-]+) ([^;]+)", written))


def test_only_the_origins_of_the_application_can_frame_its_page():
    widget, other = add_widget((SHOP, "http://localhost:3000")), add_widget(())

    page = Client().get(f"/widget/{widget.application.slug}/")
    alone = Client().get(f"/widget/{other.application.slug}/")

    assert policy_of(page)["frame-ancestors"] == f"'self' {SHOP} http://localhost:3000"
    assert policy_of(alone)["frame-ancestors"] == "'self'"
    assert "X-Frame-Options" not in page.headers


def test_the_page_has_a_strict_policy_and_sets_no_cookies():
    widget = add_widget()
    browser = Client()

    page = browser.get(f"/widget/{widget.application.slug}/")

    policy = policy_of(page)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"].startswith("'self'")
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert policy["form-action"] == "'none'"
    assert (dict(page.cookies), Session.objects.count()) == ({}, 0)
    assert "no-store" in page.headers["Cache-Control"]


def test_the_page_is_the_same_for_a_user_of_the_site(grace: User, browser: Client):
    widget = add_widget(title="Travel desk")

    mine = browser.get(f"/widget/{widget.application.slug}/").text
    others = Client().get(f"/widget/{widget.application.slug}/").text

    assert "Travel desk" in mine
    assert "grace" not in mine
    assert mine == others


def test_a_widget_that_is_off_or_unknown_does_not_exist():
    off, disabled = add_widget(), add_widget()
    off.is_enabled = False
    off.save()
    type(disabled.application).objects.filter(pk=disabled.pk).update(is_enabled=False)

    names = (off.application.slug, disabled.application.slug, "nowhere")
    pages = [Client().get(f"/widget/{name}/") for name in names]
    tokens = [Client().post(f"/widget/{name}/token/", {"host": SHOP}) for name in names]

    assert [one.status_code for one in (*pages, *tokens)] == [404] * 6
    assert policy_of(pages[0])["frame-ancestors"] == "'none'"


def test_the_site_chooses_the_language():
    widget = add_widget()
    path = f"/widget/{widget.application.slug}/"

    german = Client().get(f"{path}?locale=de-AT")
    arabic = Client().get(f"{path}?locale=ar")
    unknown = Client().get(f"{path}?locale=xx", headers={"accept-language": "uk"})

    assert '<html lang="de">' in german.text
    assert '<html lang="ar" dir="rtl">' in arabic.text
    assert '<html lang="uk">' in unknown.text
    assert german.headers["Content-Language"] == "de"


def test_the_loader_is_small_and_can_be_cached():
    response = Client().get("/widget.js")

    assert response.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "max-age=3600" in response.headers["Cache-Control"]
    assert response.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert len(gzip.compress(response.content, 9)) < 1_600
