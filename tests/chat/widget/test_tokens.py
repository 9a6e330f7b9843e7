from __future__ import annotations

import hmac
import json
import time

import pytest
from django.core import signing
from django.test import Client
from jwt.utils import base64url_encode

from apps.accounts.caller import widget_visitor
from apps.catalog.models import Widget
from apps.chat.models import UsedIdentity
from apps.chat.widget.identities import delete_expired
from apps.chat.widget.tokens import FILES_SALT, LIFE, SALT, VisitorToken, check_token, read_token
from apps.errors import NotAdmitted
from tests.chat.widget.widgets import KEY, SHOP, add_widget, ask_token, key_pair, sign, token_of
from tests.tables import each_row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
OURS = "http://testserver"


def code_of(response: object) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]  # type: ignore[attr-defined]


def test_a_visitor_gets_a_token_of_a_day_for_the_application_and_the_site():
    widget = add_widget()

    told = ask_token(widget).json()

    token = read_token(told["token"])
    guest = widget_visitor(token.bucket)
    assert guest is not None
    assert (guest.application, guest.is_identified) == (widget.pk, False)
    assert (token.application, token.host) == (widget.pk, SHOP)
    assert abs(token.expires - time.time() - LIFE) < 30
    files = f"/widget/{widget.application.slug}/key/"
    assert told == {
        "token": told["token"],
        "expires": token.expires,
        "visitor": token.bucket,
        "files": f"{files}{told['files'].removeprefix(files)}",
    }
    assert read_token(told["files"].removeprefix(files), FILES_SALT) == token


def test_each_visitor_is_another_one_and_an_identity_is_always_the_same():
    widget, other = add_widget(), add_widget()

    visitors = {read_token(token_of(widget)).bucket for _ in range(2)}
    ada = {read_token(token_of(widget, identity=sign(widget))).bucket for _ in range(2)}
    elsewhere = {read_token(token_of(other, identity=sign(other))).bucket}

    assert (len(visitors), len(ada), len(ada | elsewhere)) == (2, 1, 2)
    assert "ada" not in str(ada)


@each_row("host", ["https://evil.example", "", "null", "https://shop.example.evil.example", "*"])
def test_a_site_that_is_not_listed_gets_no_token(host: str):
    assert code_of(ask_token(add_widget(), host)) == (403, "origin_unknown")


@each_row(
    "body",
    ["", "[]", "{", '{"host": 1}', '{"host": "x", "more": 1}', '{"host": "' + "x" * 301 + '"}'],
)
def test_a_request_that_cannot_be_read_is_refused(body: str):
    path = f"/widget/{add_widget().application.slug}/token/"

    answer = Client().post(path, body, content_type="application/json")

    assert code_of(answer) == (400, "bad_request")


def test_a_form_in_place_of_json_is_refused():
    path = f"/widget/{add_widget().application.slug}/token/"

    answer = Client().post(path, {"host": "https://a.example"})

    assert answer.status_code == 400
    assert answer.json() == {"error": {"message": "Send JSON, not a form.", "code": "bad_request"}}


def test_an_application_that_is_not_public_needs_an_identity():
    widget = add_widget(is_public=False)

    without = ask_token(widget)
    named = ask_token(widget, identity=sign(widget))

    assert code_of(without) == (401, "identity_required")
    assert named.status_code == 200


def test_an_identity_is_used_once():
    widget, other = add_widget(), add_widget()
    jti = "the-same"

    first = ask_token(widget, identity=sign(widget, jti=jti))
    again = ask_token(widget, identity=sign(widget, jti=jti))
    elsewhere = ask_token(other, identity=sign(other, jti=jti))

    assert (first.status_code, elsewhere.status_code) == (200, 200)
    assert code_of(again) == (401, "identity_invalid")
    assert "already used" in again.json()["error"]["message"]


def test_invalid_identities_are_refused():
    widget = add_widget()
    now = int(time.time())
    refused = {
        "another key": sign(widget, key="another-key-of-the-same-length-or-so-1234"),
        "another application": sign(widget, aud="other"),
        "a list of applications": sign(widget, aud=[widget.application.slug, "other"]),
        "expired": sign(widget, exp=now - 60),
        "too long": sign(widget, exp=now + 600),
        "never ends": sign(widget, exp=None),
        "infinite": sign(widget, exp=1e308),
        "no jti": sign(widget, jti=None),
        "no user": sign(widget, sub=None),
        "empty user": sign(widget, sub=""),
        "long user": sign(widget, sub="x" * 201),
        "not yet": sign(widget, nbf=now + 200),
        "another algorithm": sign(widget, key=f"{KEY}{KEY}", algorithm="HS512"),
        "unsigned": sign(widget, key="", algorithm="none"),
        "no token": "x.y.z",
        "NUL": "\0",
    }

    answers = {name: ask_token(widget, identity=one) for name, one in refused.items()}

    assert {name: code_of(one) for name, one in answers.items()} == dict.fromkeys(
        refused, (401, "identity_invalid")
    )
    assert UsedIdentity.objects.count() == 0


def test_a_widget_without_a_key_takes_no_identity():
    widget = add_widget(key="")

    assert code_of(ask_token(widget, identity=sign(widget))) == (401, "identity_invalid")


def test_a_widget_with_a_public_key_takes_identities_of_its_private_key_alone():
    private, public = key_pair()
    other, _ = key_pair()
    widget, secret = add_widget(key=public), add_widget()

    def signed(widget: Widget, key: str, algorithm: str = "EdDSA") -> int:
        identity = sign(widget, key=key, algorithm=algorithm)
        return int(ask_token(widget, identity=identity).status_code)

    assert signed(widget, private) == 200
    assert signed(widget, other) == 401
    assert signed(secret, private) == 401
    # A public key is no secret: the algorithm of the identity must not turn it into one.
    head = {"alg": "HS256", "typ": "JWT"}
    _, claims, _ = sign(widget, key=private, algorithm="EdDSA").split(".")
    unsigned = f"{base64url_encode(json.dumps(head).encode()).decode()}.{claims}"
    mac = base64url_encode(hmac.digest(public.encode(), unsigned.encode(), "sha256")).decode()
    assert ask_token(widget, identity=f"{unsigned}.{mac}").status_code == 401


def test_used_identities_are_forgotten_when_they_have_expired():
    widget = add_widget()
    ask_token(widget, identity=sign(widget, exp=int(time.time()) - 20))
    ask_token(widget, identity=sign(widget))
    UsedIdentity.objects.order_by("expires_at").first().delete()  # type: ignore[union-attr]
    assert delete_expired() == 0
    UsedIdentity.objects.update(expires_at="2020-01-01T00:00Z")

    assert (delete_expired(), UsedIdentity.objects.count()) == (1, 0)


def test_a_token_holds_only_for_its_application_on_its_site_while_the_widget_is_on():
    widget, other = add_widget((SHOP, "https://b.example")), add_widget()
    visitor = read_token(token_of(widget))
    user = read_token(token_of(widget, identity=sign(widget)))
    slug = widget.application.slug

    def is_valid(token: VisitorToken, slug: str = slug, host: str = SHOP) -> bool:
        try:
            return bool(check_token(token, slug, host, OURS).pk == widget.pk)
        except NotAdmitted:
            return False

    assert (is_valid(visitor), is_valid(user)) == (True, True)
    assert not is_valid(visitor, other.application.slug)
    assert not is_valid(visitor, host="https://b.example")
    widget.identity_key = "a-new-key-of-the-widget-with-enough-characters"
    widget.save()
    assert (is_valid(visitor), is_valid(user)) == (True, False)
    widget.origins = []
    widget.save()
    assert not is_valid(visitor)
    widget.origins, widget.is_enabled = [SHOP], False
    widget.save()
    assert not is_valid(visitor)


def test_forged_and_expired_tokens_are_refused(monkeypatch: pytest.MonkeyPatch):
    widget = add_widget()
    good = token_of(widget)
    stored = [widget.pk, SHOP, "user-1", int(time.time()) + 60, ""]
    forged = [
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        signing.dumps(stored, salt="another"),
        signing.dumps(stored, key="another", salt=SALT),
        signing.dumps([1], salt=SALT),
        json.dumps(stored),
        "",
        "\0",
        good * 100,
    ]

    for one in forged:
        with pytest.raises(NotAdmitted):
            read_token(one)
    monkeypatch.setattr("django.core.signing.time.time", lambda: time.time_ns() / 1e9 + LIFE + 1)
    with pytest.raises(NotAdmitted):
        read_token(good)
