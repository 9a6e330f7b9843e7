"""Second factors are required at every door, cannot be guessed, and can be removed if lost."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client

from apps.accounts.encryption import cipher
from apps.accounts.models import AuditEntry

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/account/"
PASSWORD = "a-password-for-tests"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password=PASSWORD)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def code_of(secret: str) -> str:
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30)))


def with_totp(user: User) -> str:
    """Return the secret of the authenticator app."""
    secret: str = generate_totp_secret()
    TOTP.activate(user, secret)
    return secret


@pytest.mark.parametrize("door", ["/accounts/login/", "/admin/login/"])
def test_with_a_second_factor_the_password_alone_opens_no_door(ada, door):
    ada.is_staff = ada.is_superuser = True
    ada.save()
    secret = with_totp(ada)
    client = Client()
    typed = {"username": "ada", "password": PASSWORD}
    answer = client.post(door, typed)
    while answer.status_code == 307:
        answer = client.post(answer["Location"], typed)
    between = [client.get(path).status_code for path in (PAGE, "/admin/", "/api/applications/")]
    wrong = client.post("/accounts/2fa/authenticate/", {"code": "000000"})
    right = client.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})

    assert answer["Location"] == "/accounts/2fa/authenticate/"
    assert between[:2] == [302, 302]
    assert between[2] in (401, 403)
    assert "Incorrect code." in wrong.text
    assert right.status_code == 302
    assert client.get("/admin/").status_code == 200


def test_codes_are_not_to_be_guessed(ada):
    secret = with_totp(ada)
    client = Client()
    client.post("/accounts/login/", {"username": "ada", "password": PASSWORD})
    answers = [client.post("/accounts/2fa/authenticate/", {"code": f"{n}"}) for n in range(5)]
    late = client.post("/accounts/2fa/authenticate/", {"code": code_of(secret)})

    assert all("Incorrect code." in answer.text for answer in answers)
    assert "Too many failed login attempts." in late.text
    assert client.get(PAGE).status_code == 302


def test_secrets_of_second_factors_are_encrypted_and_can_be_encrypted_anew(ada, settings):
    settings.SECRET_KEY = "the-old-key"
    secret = with_totp(ada)
    stored = Authenticator.objects.get().data["secret"]
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "the-new-key", ["the-old-key"]
    call_command("reencrypt_secrets", stdout=StringIO())
    settings.SECRET_KEY_FALLBACKS = []
    row = Authenticator.objects.get()

    assert secret not in stored
    assert cipher().decrypt(row.data["secret"].encode()).decode() == secret
    assert row.wrap().validate_code(code_of(secret))


def test_a_second_factor_that_no_key_decrypts_lets_nobody_in(ada, settings):
    secret = with_totp(ada)
    settings.SECRET_KEY = "another-key"
    wrapped = Authenticator.objects.get().wrap()

    assert not wrapped.validate_code(code_of(secret))
    assert not wrapped.validate_code(code_of(""))


def test_staff_are_led_to_set_up_a_second_factor_where_it_is_required(ada, settings):
    settings.MFA_REQUIRED_FOR_STAFF = True
    ada.is_staff = ada.is_superuser = True
    ada.save()
    client, person = signed_in(ada), signed_in(User.objects.create_user("person"))
    before = [client.get(path).status_code for path in ("/", "/admin/", "/api/applications/", PAGE)]
    told = client.get(PAGE).text
    with_totp(ada)

    assert before == [302, 302, 302, 200]
    assert "Staff accounts require two-factor authentication." in told
    assert "Staff accounts require two-factor authentication." not in client.get(PAGE).text
    assert client.get("/admin/").status_code == 200
    assert person.get("/").status_code == 200


def test_a_superuser_takes_a_lost_second_factor_away_which_is_audited(ada):
    with_totp(ada)
    root = User.objects.create_superuser("root")
    clerk = User.objects.create_user("clerk", is_staff=True)
    for name in ("view_user", "change_user"):
        clerk.user_permissions.add(Permission.objects.get(codename=name))
    chosen = {"action": "remove_second_factors", "_selected_action": [ada.pk]}
    signed_in(clerk).post("/admin/auth/user/", chosen)
    kept = Authenticator.objects.count()
    answer = signed_in(root).post("/admin/auth/user/", chosen, follow=True)

    assert kept == 1
    assert "Second factors removed: 1." in answer.text
    assert not Authenticator.objects.exists()
    assert [(row.event, row.actor, row.subject) for row in AuditEntry.objects.all()] == [
        ("second_factor.removed", f"user-{root.pk}", f"user-{ada.pk}")
    ]
