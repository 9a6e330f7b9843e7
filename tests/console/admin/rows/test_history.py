from __future__ import annotations

import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.catalog.actions import archive
from apps.catalog.extraction import extract
from apps.catalog.models import Application, ApplicationDraft, Change, ContentItem
from apps.workspace.local.models import Deployment, McpServer, Secret
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.console.pages import signed_in, staff, words
from tests.manifest.documents import rest_tool, rest_tools

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

LIST = "/admin/catalog/application/"
DEPLOYMENTS = "/admin/workspace/deployment/"
KEY = "sk-never-to-be-seen-again"


@pytest.fixture
def client() -> Client:
    make_deployment("demo-model")
    return signed_in("anna")


def last() -> Any:
    return Change.objects.first()


def change_page(change: Change, base: str = LIST) -> str:
    return f"{base}{change.object_id}/history/{change.pk}/"


def test_the_history_tells_who_what_and_where(client, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["daphne"])  # `python -m pytest` looks like a command
    application = make_application()
    client.post(LIST, {"action": "disable", "_selected_action": application.pk})

    page = words(client.get(f"{LIST}{application.pk}/history/"))

    assert "annathrough the admin Changed revision 2 Access › Enabled" in page  # noqa: RUF001
    assert "The server Created revision 1 All fields" in page


def test_one_change_is_shown_place_by_place(client):
    application = make_application(
        description="One\nTwo\nThree",
        manifest=manifest_with(contexts=[{"type": "a", "url": "<b>"}]),
    )
    application.description = "One\n2\nThree"
    application.manifest = manifest_with(contexts=[{"type": "a", "url": "c"}], odd=True)
    application.save()

    answer = client.get(change_page(last()))

    page = words(answer)
    assert "removed: − Twoadded: + 2" in page  # noqa: RUF001
    assert 'Files and contexts › Context 1 › Path changed before: − "<b>"after: + "c"' in page  # noqa: RUF001
    assert "Odd added after: + true" in page
    assert "<b>" not in answer.text


def test_the_history_names_toolsets_that_were_changed_and_removed(client):
    toolsets = [{"type": "rest-api", "name": name, "base_url": "/a"} for name in ("one", "two")]
    application = make_application(manifest=manifest_with(tool_sets=toolsets))
    application.manifest = manifest_with(tool_sets=[{**toolsets[1], "base_url": "/b"}])
    application.save()

    page = words(client.get(f"{LIST}{application.pk}/history/"))
    change = words(client.get(change_page(last())))

    assert "Tools › two › Service URL, Tools › one" in page  # noqa: RUF001
    assert "Tools › two › Service URL changed" in change  # noqa: RUF001
    assert "Tools › one removed" in change  # noqa: RUF001


def test_an_earlier_text_becomes_the_draft_after_asking(client):
    application = make_application(manifest=manifest_with(odd=1))
    created = last()
    application.manifest = manifest_with(odd=2)
    application.save()
    url = f"{change_page(created)}restore/after/"

    asked = words(client.get(url))
    assert "Odd changed before: − 2after: + 1" in asked  # noqa: RUF001
    assert "Restore as draft" in asked
    done = client.post(url, {"seen_version": "2"})
    again = words(client.post(url, {"seen_version": "2"}))

    application.refresh_from_db()
    assert done["Location"] == f"{LIST}{application.pk}/history/"
    assert (application.manifest, application.live_number) == (manifest_with(odd=2), 1)
    assert application.draft.manifest == manifest_with(odd=1)
    assert "There is a draft. Publish or discard it first." in again


def test_earlier_properties_are_restored_at_once(client):
    application = make_application()
    created = last()
    application.is_public, application.slug = True, "tours"
    application.save()

    client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})

    application.refresh_from_db()
    assert (application.is_public, application.slug, application.version) == (False, "travel", 3)
    assert not ApplicationDraft.objects.exists()
    assert (last().what, last().restored_from, last().actor) == ("restored", created.pk, "anna")
    assert last().places == ["slug", "is_public"]


def test_a_name_that_another_application_has_now_is_not_restored(client):
    application = make_application()
    created = last()
    application.slug = "tours"
    application.save()
    make_application("travel")

    answer = client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})

    assert "slug: Application with this Slug already exists." in words(answer)
    assert Application.objects.get(pk=application.pk).slug == "tours"


def test_what_was_before_the_first_recorded_change_comes_back_too(client):
    application = make_application(title="Old")
    Change.objects.all().delete()
    application.title = "New"
    application.save()

    client.post(f"{change_page(last())}restore/before/", {"seen_version": "2"})

    assert Application.objects.get().draft.title == "Old"


def test_nothing_is_restored_over_what_somebody_changed_meanwhile(client):
    application = make_application()
    created = last()
    application.title = "Later"
    application.save()

    answer = client.post(f"{change_page(created)}restore/after/", {"seen_version": "1"})

    assert "This row was changed in the meantime" in words(answer)
    assert Application.objects.get().title == "Later"


def test_a_text_with_mistakes_becomes_the_draft_too(client):
    application = make_application(manifest={"orchestrator": 1})
    created = last()
    application.manifest = manifest_with()
    application.save()

    client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})

    row = Application.objects.get()
    assert (row.manifest, row.draft.manifest) == (manifest_with(), {"orchestrator": 1})


def with_key(key: Any, url: str = "https://api.example.com/a") -> dict[str, Any]:
    """Return a manifest with a credential, and the server that it is sent to."""
    tool = rest_tool("look")
    tool["rest_api_method_info"]["method_url"] = url
    return manifest_with(
        tool_sets=[rest_tools(tool, authorization={"type": "bearer", "token": key})]
    )


NAMED = with_key({"$secret": "api-token"})


def test_a_restored_version_has_the_credentials_of_the_present_one(client):
    application = make_application(manifest=with_key(KEY))
    created = last()
    application.title = "Later"
    application.save()
    assert KEY not in client.get(change_page(created)).text

    client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})

    application.refresh_from_db()
    assert (application.draft.title, application.draft.manifest) == ("Travel", NAMED)
    assert Secret.objects.get().value == KEY
    assert KEY not in repr(list(Change.objects.values()))


def test_a_state_with_a_hidden_credential_is_restored_with_the_name_of_its_secret(client):
    application = make_application(manifest=with_key(KEY))
    created = last()
    application.manifest, application.title = extract(application.manifest).document, "Later"
    application.save()

    client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})

    application.refresh_from_db()
    assert (application.draft.title, application.draft.manifest) == ("Travel", NAMED)
    assert Secret.objects.get().value == KEY
    assert KEY not in repr(list(Change.objects.values()))


def test_looking_at_what_restoring_would_do_makes_no_secret(client):
    application = make_application(manifest=with_key(KEY))
    created = last()
    application.title = "Later"
    application.save()

    page = client.get(f"{change_page(created)}restore/after/").text

    assert KEY not in page
    assert not Secret.objects.exists()


def test_a_credential_that_is_gone_has_to_be_typed_again(client):
    application = make_application(manifest=with_key(KEY))
    created = last()
    application.manifest = manifest_with()
    application.save()

    client.post(f"{change_page(created)}restore/after/", {"seen_version": "2"})
    row = Application.objects.get()
    told = {"note": "Back", "seen": str(row.draft.version)}
    refused = words(client.post(f"{LIST}{row.pk}/versions/publish/", told))

    assert list(row.draft.manifest["tool_sets"][0]["authorization"]["token"]) == ["$hidden"]
    assert "tool_sets[0].authorization" in refused
    assert Application.objects.get().live_number == 1


def test_a_deleted_row_is_listed_and_comes_back_under_its_number(client):
    application = make_application(description="Kept", owner=User.objects.get(username="anna"))
    number = application.pk
    client.post(f"{LIST}{number}/archive/")
    client.post(f"{LIST}{number}/delete/", {"post": "yes"})
    deleted = last()

    assert "Travel" in words(client.get(f"{LIST}deleted/"))
    assert "This row was deleted" in words(client.get(f"{LIST}{number}/history/"))
    assert client.get(change_page(deleted)).status_code == 200
    assert client.get(f"{change_page(deleted)}restore/before/").status_code == 200
    client.post(f"{change_page(deleted)}restore/before/", {"seen_version": "0"})

    row = Application.objects.get()
    assert (row.pk, row.description, row.version) == (number, "Kept", 3)
    assert (row.live_number, row.is_enabled, row.draft.manifest) == (0, False, manifest_with())
    assert row.owner is not None
    assert (row.owner.username, last().what) == ("anna", "restored")
    assert "No deleted rows" in words(client.get(f"{LIST}deleted/"))


def test_a_restored_deployment_comes_without_its_key_and_says_so(client):
    row = Deployment.objects.get()
    row.provider, row.base_url, row.api_key = "openai", "https://api.example.com/v1", KEY
    row.save()
    client.post(f"{DEPLOYMENTS}{row.pk}/delete/", {"post": "yes"})

    url = f"{change_page(last(), DEPLOYMENTS)}restore/before/"
    assert "The api key is not stored in the history. Enter it again." in words(client.get(url))
    client.post(url, {"seen_version": "0"})

    assert (Deployment.objects.get().base_url, Deployment.objects.get().api_key) == (
        "https://api.example.com/v1",
        "",
    )


def test_a_key_does_not_follow_a_restored_address_to_another_server(client):
    row = Deployment.objects.get()
    row.provider, row.base_url = "openai", "https://evil.example.com/v1"
    row.save()
    evil = last()
    row.base_url, row.api_key = "https://api.example.com/v1", KEY
    row.save()

    answer = client.post(
        f"{change_page(evil, DEPLOYMENTS)}restore/after/", {"seen_version": str(row.version)}
    )

    assert "new_api_key: The key was stored for another server." in words(answer)
    row.refresh_from_db()
    assert (row.base_url, row.api_key) == ("https://api.example.com/v1", KEY)


def test_a_server_is_restored_with_the_variables_that_it_has(client):
    row = McpServer(name="own", command="one", arguments=["-a"], environment='{"TOKEN": "x"}')
    row.save()
    created = last()
    row.command, row.arguments = "two", []
    row.save()

    base = "/admin/workspace/mcpserver/"
    client.post(f"{change_page(created, base)}restore/after/", {"seen_version": "2"})

    row.refresh_from_db()
    assert (row.command, row.arguments, row.environment) == ("one", ["-a"], '{"TOKEN": "x"}')


def test_a_skill_is_restored_without_the_files_that_it_did_not_have(client):
    text = "---\nname: guide\ndescription: How.\n---\n\nRead.\n"
    row = ContentItem(kind="skill", name="guide", text=text)
    row.save()
    created = last()
    row.files = {"a.md": "A"}
    row.save()

    base = "/admin/catalog/contentitem/"
    client.post(f"{change_page(created, base)}restore/after/", {"seen_version": "2"})

    row.refresh_from_db()
    assert (row.files, row.text, row.version) == ({}, text, 3)


def test_an_item_that_was_deleted_comes_back_and_is_in_force(client):
    row = ContentItem(kind="prompt", name="own", text="Be brief.")
    row.save()
    base = "/admin/catalog/contentitem/"
    client.post(f"{base}{row.pk}/delete/", {"post": "yes"})

    client.post(f"{change_page(last(), base)}restore/before/", {"seen_version": "0"})

    assert ContentItem.objects.get().text == "Be brief."
    assert "Be brief." in words(client.get(f"{base}item/prompt/own/"))


def test_actions_on_many_rows_are_recorded_with_who_did_them(client):
    rows = [make_application(slug) for slug in "ab"]
    chosen = {"_selected_action": [str(row.pk) for row in rows]}

    client.post(LIST, {"action": "disable", **chosen})
    for row in rows:
        archive.execute(row)
    client.post(LIST, {"action": "delete_selected", "post": "yes", **chosen})

    found = Change.objects.filter(actor="anna", via="admin").values_list("what", "places")
    assert [(what, places) for what, places in found if what == "changed"] == [
        ("changed", ["is_enabled"])
    ] * 2
    assert [what for what, _ in found].count("deleted") == 2


def test_whoever_may_only_look_cannot_restore(client):
    application = make_application()
    created = last()
    application.title = "Later"
    application.save()
    looker = staff("view_application")
    url = f"{change_page(created)}restore/after/"

    assert looker.get(change_page(created)).status_code == 200
    assert "Restore" not in words(looker.get(change_page(created)))
    assert [looker.get(url).status_code, looker.post(url).status_code] == [403, 403]


def test_whoever_may_not_look_sees_no_history(client):
    application = make_application()
    stranger = staff("view_deployment")

    urls = (f"{LIST}{application.pk}/history/", change_page(last()), f"{LIST}deleted/")
    assert [stranger.get(url).status_code for url in urls] == [403, 403, 403]


@pytest.mark.parametrize("tail", ["history/999/", "history/999/restore/after/", "history/x/"])
def test_what_does_not_exist_is_not_found(client, tail):
    application = make_application()

    assert client.get(f"{LIST}{application.pk}/{tail}", follow=True).status_code in (302, 404, 200)
    assert client.get(f"{LIST}999/history/").status_code == 404


def test_the_change_of_another_row_is_not_found(client):
    one, _ = make_application("one"), make_application("two")
    foreign = last()

    assert client.get(f"{LIST}{one.pk}/history/{foreign.pk}/").status_code == 404


def test_pages_of_a_long_history_take_few_queries(client, django_assert_max_num_queries):
    application = make_application()
    for number in range(120):
        application.title = f"Title {number}"
        application.save()
    base = f"{LIST}{application.pk}/history/"

    with django_assert_max_num_queries(17):
        page = words(client.get(base))
    with django_assert_max_num_queries(17):
        client.get(f"{base}?page=3")
    with django_assert_max_num_queries(17):
        client.get(change_page(last()))
    Application.objects.all().delete()
    with django_assert_max_num_queries(17):
        client.get(f"{LIST}deleted/")

    assert "1 to 50 of 121" in page
