"""One page signs users in, for the admin too; an address with too many failures is blocked for a
while."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.conf import settings as site_settings
from django.contrib import admin
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core.exceptions import ValidationError
from django.test import Client, RequestFactory

pytestmark = pytest.mark.django_db

PAGE = "/accounts/login/"
RIGHT = "a-password-for-tests"
MISMATCH = (
    "Enter a correct username or email address and password. Usernames and passwords "
    "are case-sensitive."
)
HERE, ELSEWHERE = "203.0.113.5", "198.51.100.7"


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace", password=RIGHT)


def post(
    name: str, password: str, address: str = HERE, *, client: Client | None = None, **more: Any
) -> Any:
    used = client or Client()
    typed = {"username": name, "password": password, **more.pop("fields", {})}
    return used.post(more.pop("path", PAGE), typed, REMOTE_ADDR=address, **more)


def fail(times: int, name: str = "grace", address: str = HERE, **more: Any) -> list[int]:
    return [post(name, "wrong", address, **more).status_code for _ in range(times)]


def problems(answer: Any) -> list[str]:
    form = r'(?:class="notice problem"[^<]*<svg.*?</svg>|field-error">)(.*?)</p>'
    return [found.strip() for found in re.findall(form, answer.text, re.DOTALL)]


def test_the_right_password_leads_to_the_page_that_was_wanted(grace):
    client = Client()

    answer = post("grace", RIGHT, client=client, fields={"next": "/chat/demo/"})

    assert (answer.status_code, answer["Location"]) == (302, "/chat/demo/")
    assert client.session[SESSION_KEY] == str(grace.pk)
    assert client.session[BACKEND_SESSION_KEY] == "django.contrib.auth.backends.ModelBackend"
    assert client.session.get_expiry_age() == site_settings.SESSION_COOKIE_AGE
    assert list(get_messages(answer.wsgi_request)) == []


def add_account(name: str, mail: str = "", confirmed: str = "", **fields: Any) -> User:
    user = User.objects.create_user(name, mail, RIGHT, **fields)
    if confirmed:
        EmailAddress.objects.create(user=user, email=confirmed, verified=True, primary=True)
    return user


def signed_in(login: str) -> str:
    """Return the username of the session, or "" for a refusal."""
    client = Client()
    post(login, RIGHT, client=client)
    number = client.session.get(SESSION_KEY)
    return "" if number is None else User.objects.get(pk=number).username


@pytest.mark.postgres
def test_an_email_address_names_the_account_that_confirmed_it_or_alone_has_it():
    add_account("grace", "grace@example.com", "grace@example.com")
    add_account("mallory", "grace@example.com")
    add_account("ada", "Ada@Example.com")
    add_account("twin-1", "twin@example.com")
    add_account("twin-2", "twin@example.com")
    add_account("mail@example.com", "other@example.com")
    add_account("owner", "mail@example.com", "mail@example.com")
    add_account("closed", "closed@example.com", "closed@example.com", is_active=False)
    unconfirmed = add_account("claims")
    EmailAddress.objects.create(user=unconfirmed, email="claimed@example.com", verified=False)

    named = {
        login: signed_in(login)
        for login in (
            "grace@example.com",
            " GRACE@example.com ",
            "ada@example.com",
            "twin@example.com",
            "mail@example.com",
            "closed@example.com",
            "claimed@example.com",
            "nobody@example.com",
            "@",
        )
    }

    assert named == {
        "grace@example.com": "grace",
        " GRACE@example.com ": "grace",
        "ada@example.com": "ada",
        "twin@example.com": "",
        "mail@example.com": "mail@example.com",
        "closed@example.com": "",
        "claimed@example.com": "",
        "nobody@example.com": "",
        "@": "",
    }


def test_wrong_tries_with_an_email_address_count_for_the_account():
    add_account("grace", "grace@example.com")

    wrong = [*fail(3, "grace@example.com"), *fail(2, "grace"), *fail(1, "GRACE@example.com")]

    assert wrong == [200] * 5 + [429]


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example",
        "javascript:alert(1)",
        "http://localhost/",
        "/\\evil",
    ],
)
def test_no_other_site_can_be_what_was_wanted(grace, address):
    answer = post("grace", RIGHT, fields={"next": address})

    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_who_has_an_account_cannot_be_found_out(grace):
    User.objects.create_user("idle", password=RIGHT, is_active=False)

    answers = [post("grace", "wrong"), post("nobody", "wrong"), post("idle", RIGHT)]

    assert [(each.status_code, problems(each)) for each in answers] == [(200, [MISMATCH])] * 3


def test_five_wrong_tries_shut_a_name_for_the_address_they_came_from(grace):
    assert fail(5) == [200] * 5

    refused = post("grace", RIGHT)

    told = "Too many failed attempts. Wait 5 minutes, then try again."
    assert (refused.status_code, problems(refused)) == (429, [told])
    assert 295 <= int(refused["Retry-After"]) <= 300
    assert post("grace", RIGHT, ELSEWHERE).status_code == 302
    assert post("ada", "wrong").status_code == 200


def test_a_name_that_nobody_has_is_shut_alike():
    assert fail(6, "nobody") == [200] * 5 + [429]


def test_a_shut_name_opens_by_itself_and_refused_tries_do_not_put_it_off(grace):
    with time_machine.travel(1_800_000_000, tick=False) as clock:
        fail(5)
        clock.shift(260)
        refused = post("grace", RIGHT)
        clock.shift(41)

        assert (refused.status_code, refused["Retry-After"]) == (429, "40")
        assert problems(refused) == ["Too many failed attempts. Wait 40 seconds, then try again."]
        assert post("grace", RIGHT).status_code == 302


def test_the_right_password_is_no_try_that_counts(grace):
    fail(4)

    assert [post("grace", RIGHT).status_code for _ in range(4)] == [302] * 4
    assert fail(2) == [200, 429]


def test_an_address_that_fails_with_many_names_is_shut_for_all(grace, settings):
    limit = {"login_failed_by_address": "7/5m/ip"}
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | limit

    wrong = [post(f"name-{number}", "wrong").status_code for number in range(8)]

    assert wrong == [200] * 7 + [429]
    refused = post("grace", RIGHT)
    assert (refused.status_code, "Retry-After" in refused) == (429, True)
    assert post("grace", RIGHT, ELSEWHERE).status_code == 302


def test_tries_at_the_same_time_are_no_more_tries():
    def admitted(_: int) -> bool:
        request = RequestFactory().post(PAGE, REMOTE_ADDR=HERE)
        try:
            get_adapter().pre_authenticate(request, username="grace", password="wrong")
        except ValidationError:
            return False
        return True

    with ThreadPoolExecutor(20) as threads:
        assert sum(threads.map(admitted, range(20))) == 5


def test_no_header_makes_somebody_else_of_a_client(grace):
    def headers(number: int) -> dict[str, str]:
        told = f"192.0.2.{number}"
        return {"X-Forwarded-For": told, "X-Real-IP": told, "Forwarded": f"for={told}"}

    wrong = [fail(1, headers={**headers(n), "Host": f"localhost:{n}"})[0] for n in range(1, 7)]

    assert wrong == [200] * 5 + [429]
    assert post("grace", RIGHT, "192.0.2.1").status_code == 302


def test_the_log_says_who_is_refused_and_that_a_proxy_may_be_to_blame(grace, caplog):
    fail(6)
    fail(1, headers={"X-Forwarded-For": ELSEWHERE})

    ours = [record.getMessage() for record in caplog.records if record.name.startswith("apps.")]
    plain, proxied = [re.sub(r"\d+ s", "300 s", line) for line in ours]
    assert plain == "203.0.113.5 is locked out of sign-in for 300 s."
    assert proxied == (
        f"{plain} X-Forwarded-For was ignored: behind a proxy, set TRUSTED_PROXIES, or all "
        "users share its address."
    )


@pytest.mark.parametrize(
    ("address", "same", "other"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
        ("::ffff:203.0.113.5", "203.0.113.5", "::ffff:203.0.113.6"),
        ("fe80::1%eth0", "fe80::2", HERE),
        ("", "", HERE),  # a Unix socket has no address
    ],
)
def test_an_address_is_what_one_client_can_have_of_them(grace, address, same, other):
    fail(5, address=address)

    assert post("grace", RIGHT, same).status_code == 429
    assert post("grace", RIGHT, other).status_code == 302


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (b"a" * 1_000_000, "Ensure this value has at most 254 characters (it has 1000000)."),
        (b"\xff\xfe", MISMATCH),
        (b"", "This field is required."),
        (b"   ", "This field is required."),
    ],
)
def test_an_odd_name_is_an_error_of_the_form(name, told):
    body = b"password=wrong&username=" + name

    answer = Client().post(PAGE, body, content_type="application/x-www-form-urlencoded")

    assert (answer.status_code, problems(answer)) == (200, [told])


def test_a_name_is_taken_as_it_was_stored():
    User.objects.create_user(User.normalize_username("Zoë"), password=RIGHT)

    assert post(" Zoe\u0308 ", RIGHT).status_code == 302


def test_the_admin_leads_to_the_same_page():
    client = Client()

    answer = client.get("/admin/auth/user/", follow=True)

    assert answer.redirect_chain == [
        ("/admin/login/?next=/admin/auth/user/", 302),
        ("/accounts/login/?next=%2Fadmin%2Fauth%2Fuser%2F", 302),
    ]
    assert answer.status_code == 200
    assert 'name="next" value="/admin/auth/user/"' in answer.text
    assert client.get("/admin/login/")["Location"] == "/accounts/login/?next=%2Fadmin%2F"


def test_a_form_that_is_sent_to_the_admin_is_counted_like_any():
    User.objects.create_superuser("root", password=RIGHT)
    sent: dict[str, Any] = {"path": "/admin/login/", "follow": True}

    signed_in = post("root", RIGHT, **sent)
    wrong = [post("root", "wrong", **sent).status_code for _ in range(6)]

    assert signed_in.redirect_chain == [
        ("/accounts/login/?next=%2Fadmin%2F", 307),
        ("/admin/", 302),
    ]
    assert wrong == [200] * 5 + [429]
    assert fail(1, "root") == [429]


def test_staff_who_are_signed_in_are_led_on(admin_client):
    answer = admin_client.get("/admin/login/?next=/admin/auth/")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


def test_who_is_no_staff_is_told_so_and_may_be_somebody_else(grace):
    client = Client()
    client.force_login(grace)

    answer = client.get("/admin/", follow=True)

    assert (answer.status_code, len(answer.redirect_chain)) == (200, 2)
    assert (
        "Your account doesn’t have access to that page. Sign in with another account."
        in answer.text
    )


def test_a_session_of_before_goes_on(grace):
    client = Client()
    session = client.session
    session[SESSION_KEY] = str(grace.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = grace.get_session_auth_hash()
    session.save()

    assert "grace" in client.get("/").text


@pytest.mark.parametrize("path", ["login/code/", "phone/change/", "signup/passkey/"])
def test_what_is_not_used_of_allauth_has_no_address(admin_client, path):
    assert admin_client.get(f"/accounts/{path}").status_code == 404


def test_guesses_from_many_addresses_get_nowhere_and_the_owner_gets_in(grace):
    """Each address has five attempts. Afterwards, even the right password is refused."""
    addresses = 20
    answers = Counter(
        post("grace", "wrong" if turn < 5 else RIGHT, f"198.51.100.{number}").status_code
        for turn in range(7)
        for number in range(addresses)
    )

    assert answers == {200: 5 * addresses, 429: 2 * addresses}
    assert post("grace", RIGHT).status_code == 302


def test_addresses_of_mail_are_neither_kept_nor_administered(grace):
    post("grace", RIGHT)

    assert not EmailAddress.objects.exists()
    assert EmailAddress not in admin.site._registry


@pytest.mark.parametrize(
    ("path", "offer", "name"),
    [
        ("/admin/auth/group/add/", r'aria-label="([^"]+): Add"|> Add ([^<]+)<', "Applications"),
        ("/admin/auth/user/{}/change/", r">\s*(Add) ([^<]+)<", "application"),
    ],
)
def test_nobody_is_offered_permissions_for_addresses_of_mail(
    admin_client, admin_user, path, offer, name
):
    page = admin_client.get(path.format(admin_user.pk)).text

    offered = {text for found in re.findall(offer, page) for text in found}
    assert name in offered
    assert not any("email address" in text.lower() for text in offered)


def test_who_asks_for_json_gets_the_page_too(grace):
    answer = post("grace", "wrong", headers={"Accept": "application/json"})

    assert answer["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("address", ["", "unknown"])
def test_who_has_no_network_address_signs_in_too(grace, address):
    assert post("grace", RIGHT, address).status_code == 302
    assert [row.ip for row in UserSession.objects.all()] == ["0.0.0.0"]


def test_the_address_of_signing_out_shows_a_button_and_signs_nobody_out(
    client: Client, grace: User
):
    visitor = client.get("/accounts/logout/")
    client.force_login(grace)

    page = client.get("/accounts/logout/")
    signed_out = client.post("/accounts/logout/")

    assert (visitor.status_code, visitor["Location"]) == (302, PAGE)
    assert page.status_code == 200
    assert '<form method="post" action="/accounts/logout/">' in page.content.decode()
    assert (signed_out.status_code, SESSION_KEY in client.session) == (302, False)


def test_a_user_without_access_can_go_back(client: Client, grace: User):
    client.force_login(grace)

    page = client.get("/admin/", follow=True)

    assert '<a href="/">Back to apps</a>' in page.content.decode()
