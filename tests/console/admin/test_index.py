from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.catalog.content.files import write
from tests.catalog.rows import make_application, make_operator

pytestmark = pytest.mark.django_db


def titles(client: Client) -> list[str]:
    return [card["title"] for card in client.get("/admin/").context["cards"]]


def test_the_first_page_leads_everywhere(client):
    client.force_login(make_operator())
    make_application()

    assert titles(client) == [
        "Applications",
        "Predefined content",
        "Deployments",
        "API keys",
        "Chat page",
        "API description",
    ]


def test_the_first_page_offers_what_the_person_may_see(client):
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_deployment"))
    client.force_login(reader)

    assert titles(client) == ["Deployments", "Chat page", "API description"]


@pytest.mark.parametrize(
    ("files", "path", "state"),
    [
        ({"prompt__polite": "Be polite."}, "", "1 in all, none broken. "),
        ({"prompt__polite": "Be polite.", "tool__bad": b"{"}, "?state=broken", "2 in all, 1 broken. "),
    ],
)  # fmt: skip
def test_the_first_page_tells_of_broken_content_before_anybody_uses_it(
    client, settings, tmp_path, files, path, state
):
    settings.PREDEFINED_DIR = write(tmp_path, **files)
    client.force_login(make_operator())

    [card] = [c for c in client.get("/admin/").context["cards"] if c["icon"] == "layers"]

    assert card["url"] == f"/admin/catalog/contentitem/{path}"
    assert card["text"].startswith(state)


def test_the_first_page_tells_of_a_layer_that_is_missing(client, settings, tmp_path):
    settings.PREDEFINED_DIR = write(tmp_path)
    settings.PREDEFINED_EXTRA_PATHS = [str(tmp_path / "gone")]
    client.force_login(make_operator())

    [card] = [c for c in client.get("/admin/").context["cards"] if c["icon"] == "layers"]

    assert "a layer that cannot be read whole" in card["text"]


@pytest.mark.parametrize("path", ["auth/user/", "auth/user/add/", "auth/group/add/"])
def test_people_are_edited_in_the_same_look(client, path):
    client.force_login(make_operator())

    assert b"unfold/css/styles.css" in client.get(f"/admin/{path}").content
