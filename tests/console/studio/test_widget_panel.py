"""The studio's panel of the widget saves at once, and shows its key once."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.exceptions import ValidationError
from django.db.models import TextField
from django.db.models.functions import Cast
from django.test import Client

from apps.accounts.models import AuditEntry
from apps.catalog.actions.set_widget import read_origins
from apps.catalog.models import Application, Grant, Role, Widget
from tests.catalog.rows import make_application, manifest_with
from tests.chat.widget.widgets import key_pair
from tests.console.pages import browser_of, staff_account
from tests.console.studio.asking import page_data, send
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def row() -> Application:
    return make_application(is_shared=False, manifest=manifest_with())


def browser_with(row: Application, role: Role) -> Client:
    user = staff_account(role.name.lower(), "view_application", "change_application")
    Grant.objects.create(application=row, user=user, role=role)
    return browser_of(user)


def test_owners_switch_the_widget_on_and_list_its_origins(row: Application):
    owner = browser_with(row, Role.OWNER)
    written = [" HTTPS://Shop.Example/ ", "https://shop.example:443", "http://localhost:3000"]

    first = send(owner, row, "widget", {"origins": written})
    second = send(owner, row, "widget", {"is_enabled": True})

    assert (first.status_code, second.status_code) == (200, 200)
    told = {
        "is_enabled": True,
        "origins": ["https://shop.example", "http://localhost:3000"],
        "has_key": False,
        "algorithm": "",
        "is_public": False,
        "may_change": True,
    }
    assert second.json() == {"widget": told}
    assert page_data(owner, row)["connect"]["widget"] == told
    events = AuditEntry.objects.order_by("pk").values_list("event", "application", "subject")
    assert list(events) == [
        ("widget.changed", row.slug, "off: https://shop.example http://localhost:3000"),
        ("widget.changed", row.slug, "on: https://shop.example http://localhost:3000"),
    ]


@each_row(
    "origins",
    [
        ["*"],
        ["https://*.example.com"],
        ["https://a.example/path"],
        ["https://a.example?x"],
        ["javascript:alert(1)"],
        ["data:text/html,x"],
        ["null"],
        ["'self'"],
        ["https://a.example; script-src *"],
        ["https://a.example https://b.example"],
        ["https://user@a.example"],
        ["https://a.example\0"],
        ["https://a.example\nx"],
        ["https://a.example:0"],
        ["https://a.example:65536"],
        ["https://[::1]"],
        ["https://пример.example"],
        ["https://" + "a" * 300],
        ["//a.example"],
        [""],
        [1],
        [None],
        "https://a.example",
        {"a": 1},
        [f"https://a{number}.example" for number in range(200)],
    ],
)
def test_origins_that_are_none_are_refused(origins: Any):
    with pytest.raises(ValidationError, match="origin"):
        read_origins(origins)


def test_the_panel_reports_an_invalid_origin(row: Application):
    owner = browser_with(row, Role.OWNER)

    answer = send(owner, row, "widget", {"origins": ["https://*.example.com"]})
    many = send(
        owner, row, "widget", {"origins": [f"https://a{one}.example" for one in range(200)]}
    )

    assert (answer.status_code, many.status_code) == (422, 422)
    assert answer.json()["message"].startswith("Invalid origin: 'https://*.example.com'. Use a ")
    assert many.json()["message"] == "The widget has 200 origins; the limit is 20."
    assert not Widget.objects.exists()


def test_the_key_is_shown_once_and_stored_encrypted(row: Application):
    owner = browser_with(row, Role.OWNER)

    first = send(owner, row, "widget/key", {}).json()
    second = send(owner, row, "widget/key", {}).json()

    widget = Widget.objects.get()
    assert first["key"] != second["key"] == widget.identity_key
    assert "key" not in send(owner, row, "widget", {}).json()
    assert second["key"] not in str(page_data(owner, row))
    stored = Widget.objects.values_list(Cast("identity_key", TextField()), flat=True).get()
    assert second["key"] not in str(stored)
    assert not AuditEntry.objects.filter(subject__contains=second["key"]).exists()


def test_owners_store_a_public_key_in_place_of_a_secret(row: Application):
    owner = browser_with(row, Role.OWNER)
    private, public = key_pair()
    rsa = generate_private_key(65_537, 2_048).public_key()
    other_kind = rsa.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    stored = send(owner, row, "widget/key", {"public_key": f"{public}\n"})
    refused = [
        send(owner, row, "widget/key", {"public_key": one})
        for one in ("", 1, private, other_kind, f"{public[:40]}", "-----BEGIN PUBLIC KEY-----")
    ]

    assert stored.json()["key"] == ""
    assert stored.json()["widget"]["algorithm"] == "EdDSA"
    assert [one.status_code for one in refused] == [422] * 6
    assert {one.json()["message"] for one in refused} == {
        "public_key: this is not a public Ed25519 key. Use PEM that begins with "
        "-----BEGIN PUBLIC KEY-----."
    }
    assert Widget.objects.get().identity_key == public
    assert AuditEntry.objects.get().subject == "new public identity key"


def test_editors_see_the_widget_and_cannot_change_it(row: Application):
    editor = browser_with(row, Role.EDITOR)

    saved = send(editor, row, "widget", {"is_enabled": True})
    keyed = send(editor, row, "widget/key", {})

    assert (saved.status_code, keyed.status_code) == (403, 403)
    assert page_data(editor, row)["connect"]["widget"]["may_change"] is False
    assert not Widget.objects.exists()


def test_a_value_that_is_no_switch_is_refused(row: Application):
    answer = send(browser_with(row, Role.OWNER), row, "widget", {"is_enabled": "yes"})

    assert answer.status_code == 400
    assert answer.json() == {"message": "is_enabled: send true or false."}


def test_the_preview_is_for_the_studio_alone(row: Application):
    owner, path = browser_with(row, Role.OWNER), f"/admin/catalog/application/{row.pk}/studio/"

    page = owner.get(f"{path}widget/preview/?theme=dark&onload=x")
    hidden = browser_of(staff_account("other", "view_application")).get(f"{path}widget/preview/")

    assert f'data-app="{row.slug}" data-theme="dark" async' in page.text
    assert "onload" not in page.text
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert (Client().get(f"{path}widget/preview/").status_code, hidden.status_code) == (302, 404)
