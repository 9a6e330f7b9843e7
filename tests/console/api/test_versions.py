from __future__ import annotations

import pytest

from apps.accounts.models import AuditEntry
from apps.catalog.models import Application, ApplicationDraft, empty_manifest
from apps.catalog.versions.version_recorder import save_live
from tests.catalog.rows import make_application, make_operator, manifest_with
from tests.console.pages import script_of, staff_account

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_model"), pytest.mark.postgres]

URL = "/api/applications/travel/"
BROKEN = manifest_with(tool_sets=[{"type": "mcp", "name": "files"}])


def test_a_draft_is_saved_with_mistakes_and_published_without_them(api):
    make_application("travel")

    empty = api.get(f"{URL}draft/")
    saved = api.put(f"{URL}draft/", {"title": "Trips", "manifest": BROKEN}, HTTP_IF_MATCH='"0"')
    late = api.put(f"{URL}draft/", {"title": "Tours"}, HTTP_IF_MATCH='"0"')
    refused = api.post(f"{URL}publish/", {"note": "Tools"})
    api.put(f"{URL}draft/", {"manifest": empty_manifest()}, HTTP_IF_MATCH=saved["ETag"])
    note = {"note": "A better title"}
    stale = [
        api.post(f"{URL}publish/", note, HTTP_IF_MATCH=tag)
        for tag in (saved["ETag"], '"something else"')
    ]
    published = api.post(f"{URL}publish/", note, HTTP_IF_MATCH='W/"1", "2"')

    assert (empty["ETag"], empty.data["problems"], empty.data["based_on"]) == ('"0"', [], 1)
    assert [found["path"] for found in saved.data["problems"]] == [
        "manifest.tool_sets[0].mcp_server_info"
    ]
    assert (late.status_code, late.data["version"]) == (412, 1)
    assert (refused.status_code, [e["path"] for e in refused.data["errors"]]) == (
        400,
        ["manifest.tool_sets[0].mcp_server_info"],
    )
    assert [(one.status_code, one.data["version"]) for one in stale] == [(412, 2)] * 2
    assert (published.status_code, published.data["number"], published.data["is_live"]) == (
        200,
        2,
        True,
    )
    assert (Application.objects.get().title, ApplicationDraft.objects.count()) == ("Trips", 0)


def test_versions_are_listed_restored_and_withdrawn(api):
    row = make_application("travel")
    row.title = "Journeys"
    save_live(row)

    restored = api.post(f"{URL}versions/1/restore/", {"note": "The old name"})
    withdrawn = api.post(f"{URL}versions/2/withdraw/")
    live = api.post(f"{URL}versions/3/withdraw/")
    listed = api.get(f"{URL}versions/").data
    missing = api.get(f"{URL}versions/9/")

    assert [(one["number"], one["title"], one["is_live"]) for one in listed] == [
        (3, "Travel", True),
        (2, "Journeys", False),
        (1, "Travel", False),
    ]
    assert [bool(one["withdrawn_at"]) for one in listed] == [False, True, False]
    assert (restored.data["note"], withdrawn.status_code) == ("The old name", 200)
    assert (live.status_code, missing.status_code) == (400, 404)
    assert api.get(f"{URL}versions/1/").data["manifest"] == empty_manifest()


def test_a_draft_behind_what_is_live_is_published_only_over_it(api):
    row = make_application("travel")
    api.put(f"{URL}draft/", {"title": "Mine"})
    row.title = "Theirs"
    save_live(row)

    refused = api.post(f"{URL}publish/", {"note": "Mine"})
    published = api.post(f"{URL}publish/", {"note": "Mine", "over": True})

    assert (refused.status_code, refused.data["live"]) == (409, 2)
    assert (published.data["number"], Application.objects.get().title) == (3, "Mine")


def test_what_is_archived_is_erased_in_a_second_step_only(api):
    make_application("travel")

    early = api.post(f"{URL}erase/")
    api.delete(URL)
    api.post(f"{URL}unarchive/")
    back = api.get(URL).data["state"]
    api.delete(URL)
    erased = api.post(f"{URL}erase/")

    assert (early.status_code, back, erased.status_code) == (400, "live", 204)
    assert not Application.objects.exists()


def test_publishing_and_erasing_have_permissions_of_their_own(api):
    names = ("view_application", "change_application", "delete_application")
    editor = staff_account("editor", *names)
    make_application("travel", owner=editor)
    api.force_login(editor)

    drafted = api.put(f"{URL}draft/", {"title": "Mine"})
    answers = [
        api.post(f"{URL}{way}", {"note": "Mine"})
        for way in ("publish/", "versions/1/restore/", "versions/1/withdraw/", "erase/")
    ]

    assert drafted.status_code == 200
    assert [one.status_code for one in answers] == [403] * 4
    assert Application.objects.get().title == "Travel"


def test_where_two_people_publish_one_asks_and_another_publishes_or_sends_back(api):
    make_application("travel", needs_second_publisher=True)
    anna, ben = script_of(make_operator("anna")), script_of(make_operator("ben"))

    anna.put(f"{URL}draft/", {"title": "Trips"})
    unasked = ben.post(f"{URL}publish/", {"note": "Trips"})
    late = anna.post(f"{URL}draft/request/", {"note": "Trips"}, HTTP_IF_MATCH='"7"')
    asked = anna.post(f"{URL}draft/request/", {"note": "Trips"})
    own = anna.post(f"{URL}publish/", {"note": "Trips"})
    returned = ben.post(f"{URL}draft/return/", {"words": "Where to?"})
    again = ben.post(f"{URL}draft/return/", {"words": "Where to?"})
    anna.post(f"{URL}draft/request/", {"note": "Trips"})
    published = ben.post(f"{URL}publish/", {"note": "Trips"})

    assert (unasked.status_code, late.status_code, again.status_code) == (403, 412, 400)
    assert (asked.data["request"]["by"], asked.data["request"]["note"]) == ("anna", "Trips")
    assert (own.status_code, own.data["detail"]) == (
        403,
        (
            "This application needs a second publisher. You changed this draft or requested its "
            "publishing, so another user must publish it."
        ),
    )
    assert returned.data["request"]["returned_words"] == "Where to?"
    assert (published.status_code, published.data["number"]) == (200, 2)


def test_what_would_publish_at_once_says_what_to_do_where_two_people_publish(api, settings):
    make_application("travel", needs_second_publisher=True)
    settings_of = {"is_public": True}

    refused = [
        api.patch(URL, {"title": "Trips"}),
        api.put(URL, {"slug": "travel", "title": "Trips", "manifest": empty_manifest()}),
        api.post(f"{URL}versions/1/restore/", {"note": "Back"}),
    ]
    other = api.patch(URL, settings_of)
    same = api.patch(URL, {"title": "Travel"})
    settings.REQUIRE_SECOND_PUBLISHER = True
    new = api.post("/api/applications/", {"slug": "new", "title": "New"})
    drafted = api.post("/api/applications/?draft=true", {"slug": "new", "title": "New"})

    assert [one.status_code for one in (*refused, new)] == [403] * 4
    assert refused[0].data["detail"] == (
        "This application needs a second publisher. Save your change as a draft and request "
        "publishing; another user then publishes it."
    )
    assert (other.status_code, same.status_code) == (200, 200)
    assert (drafted.status_code, drafted.data["state"]) == (201, "draft")
    assert Application.objects.get(slug="travel").title == "Travel"


def test_only_a_superuser_lets_one_person_publish_again_and_it_is_audited(api):
    names = ("view_application", "change_application", "publish_application")
    owner = staff_account("owner", *names)
    make_application("travel", owner=owner)
    client = script_of(owner)

    on = client.patch(URL, {"needs_second_publisher": True})
    off = client.patch(URL, {"needs_second_publisher": False})
    both = api.patch(URL, {"needs_second_publisher": False, "title": "Trips"})
    done = api.patch(URL, {"needs_second_publisher": False})

    assert [one.status_code for one in (on, off, both, done)] == [200, 400, 403, 200]
    assert off.data["errors"][0]["path"] == "needs_second_publisher"
    said = AuditEntry.objects.filter(event="publishing.rule_changed").order_by("pk")
    assert [*said.values_list("subject", flat=True)] == ["two people", "one person"]


def test_a_draft_takes_over_what_went_live_with_a_choice_for_each_conflict(api):
    row = make_application("travel")
    api.put(f"{URL}draft/", {"title": "Mine"})
    row.title, row.description = "Theirs", "By bus"
    save_live(row)

    open_ones = api.post(f"{URL}draft/rebase/")
    wrong = api.post(f"{URL}draft/rebase/", {"choices": {"title": "both"}}, format="json")
    late = api.post(f"{URL}draft/rebase/", {"choices": {"title": "mine"}}, HTTP_IF_MATCH='"9"')
    sent = {"choices": {"title": "mine"}, "live": 2}
    done = api.post(f"{URL}draft/rebase/", sent, format="json", HTTP_IF_MATCH='"1"')

    assert (open_ones.status_code, open_ones.data["conflicts"]) == (
        409,
        [{"path": "title", "base": "Travel", "mine": "Mine", "theirs": "Theirs"}],
    )
    assert (wrong.status_code, late.status_code, done.status_code) == (400, 412, 200)
    assert (done.data["title"], done.data["description"], done.data["based_on"]) == (
        "Mine",
        "By bus",
        2,
    )
