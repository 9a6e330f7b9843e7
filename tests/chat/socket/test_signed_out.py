"""Signed-out users can read some addresses only after signing in."""

from __future__ import annotations

from urllib.parse import quote
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.conversations.models import Conversation
from tests.chat.pages.test_views import add_application
from tests.tables import each_row

pytestmark = pytest.mark.django_db


@each_row(
    "path",
    [
        "/chat/{private}/",
        "/chat/{private}/?q=How+warm%3F&place=weather",
        "/chat/there-is-none/",
        "/chat/{private}/{conversation}/",
        "/chat/{public}/{conversation}/",
        "/chat/{public}/{unknown}/",
        "/chat/{public}/{unknown}/download/?format=json",
    ],
)
def test_a_page_that_is_not_there_for_a_signed_out_reader_leads_to_the_sign_in_page_and_back(
    path: str,
) -> None:
    private, public = add_application(is_public=False), add_application()
    user = User.objects.create_user(f"ada-{uuid4().hex[:8]}")
    conversation = Conversation.objects.create(application=private, owner=f"user-{user.pk}")
    address = path.format(
        private=private.slug,
        public=public.slug,
        conversation=conversation.pk,
        unknown=uuid4(),
    )

    answer = Client().get(address)

    assert answer.status_code == 302
    assert answer["Location"] == f"/accounts/login/?next={quote(address, safe='/')}"


def test_the_owner_reads_their_conversation_after_signing_in() -> None:
    application, client = add_application(is_public=False), Client()
    user = User.objects.create_user("ada", password="a-password-for-tests")
    conversation = Conversation.objects.create(application=application, owner=f"user-{user.pk}")
    address = f"/chat/{application.slug}/{conversation.pk}/"

    asked = client.get(address)
    signed_in = client.post(
        asked["Location"],
        {"username": "ada", "password": "a-password-for-tests", "next": address},
    )

    assert (signed_in.status_code, signed_in["Location"]) == (302, address)
    assert client.get(address).status_code == 200


def test_a_signed_in_reader_and_a_script_get_a_404() -> None:
    application, client = add_application(), Client()
    client.force_login(User.objects.create_user("ada"))

    page = client.get(f"/chat/{application.slug}/{uuid4()}/")
    data = Client().get(f"/chat/{application.slug}/{uuid4()}/page/")
    posted = Client().post(f"/chat/{application.slug}/{uuid4()}/delete/")

    assert [one.status_code for one in (page, data, posted)] == [404, 404, 404]
    assert "Sign in</a>" not in page.text


def test_the_404_page_offers_to_sign_in() -> None:
    nowhere = Client().get("/no/such/page/")

    assert nowhere.status_code == 404
    assert 'href="/accounts/login/">Sign in</a>' in nowhere.text
