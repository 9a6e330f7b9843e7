from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import AuditEntry
from apps.catalog.application_files.own_skills import skills_of
from apps.catalog.models import Application, Change, ContentItem, Grant, Role
from apps.catalog.properties import save_properties
from apps.catalog.versions.content_changes import ContentChange, pending_content
from apps.catalog.versions.drafts import digest_of_draft, new_application, save_draft
from tests.catalog.rows import make_application, make_deployment, make_operator, manifest_with
from tests.catalog.versions.rows import make_many, make_versions
from tests.console.pages import browser_of, signed_in, staff, words

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

LIST = "/admin/catalog/application/"
BEFORE = 'before: \N{MINUS SIGN} "Travel"after: + "Tours"'
POLITE = manifest_with(
    orchestrator={
        "deployment": {"deployment_id": "demo-model"},
        "system_prompt": {"type": "predefined", "template": "polite"},
    }
)


@pytest.fixture
def client() -> Client:
    make_deployment()
    return signed_in()


def twice() -> Application:
    row = make_application()
    row.title = "Journeys"
    row.save()
    return row


def test_versions_are_listed_and_compared(client):
    row = twice()
    save_draft(row, {"title": "Tours"}, 0, None)

    page = words(client.get(f"{LIST}{row.pk}/versions/"))
    compared = words(client.get(f"{LIST}{row.pk}/versions/compare/?from=1&to=draft"))
    missing = [
        client.get(f"{LIST}{row.pk}/versions/compare/?{query}").status_code
        for query in ("from=1&to=9", "from=x&to=1", "", "from=99999999999999999999&to=1")
    ]

    assert "Live with unpublished changes" in page
    assert page.index("Version 2 live") < page.index("Version 1")
    assert BEFORE in compared
    assert missing == [404] * 4


def test_a_draft_is_published_with_a_note_after_its_changes_were_seen(client):
    row = make_application()
    draft = save_draft(row, {"title": "Tours"}, 0, None)
    url = f"{LIST}{row.pk}/versions/publish/"

    shown = words(client.get(url))
    stale = words(client.post(url, {"note": "New", "seen": "0"}))
    silent = words(client.post(url, {"note": " ", "seen": draft.version}))
    client.post(url, {"note": "Another title", "seen": draft.version})

    assert BEFORE in shown
    assert "Somebody saved this draft while you were editing it." in stale
    assert "Say what is new" in silent
    version = row.versions.latest("number")
    assert (version.number, version.title, version.note, version.author_name) == (
        2,
        "Tours",
        "Another title",
        "operator",
    )


def test_a_version_is_restored_or_withdrawn_and_an_application_archived(client):
    row = twice()

    client.post(f"{LIST}{row.pk}/versions/1/restore/", {"note": "The old name"})
    client.post(f"{LIST}{row.pk}/versions/2/withdraw/")
    refused = words(client.post(f"{LIST}{row.pk}/versions/3/withdraw/", follow=True))
    client.post(f"{LIST}{row.pk}/archive/")

    row.refresh_from_db()
    assert (row.title, row.live_number, row.is_enabled) == ("Travel", 3, False)
    assert [bool(one.withdrawn_at) for one in row.versions.all()] == [False, True, False]
    assert "This version is live" in refused
    assert "Nobody can use it" in words(client.get(f"{LIST}{row.pk}/versions/"))
    assert [one.slug for one in client.get(f"{LIST}?state=archived").context["cl"].result_list] == [
        "travel"
    ]


def test_whoever_may_not_publish_only_looks(client):
    row = twice()
    looker = staff("view_application", "change_application")

    pages = [
        looker.get(f"{LIST}{row.pk}/versions/").status_code,
        looker.get(f"{LIST}{row.pk}/versions/publish/").status_code,
        looker.post(f"{LIST}{row.pk}/versions/1/restore/", {"note": "x"}).status_code,
        looker.post(f"{LIST}{row.pk}/versions/1/withdraw/").status_code,
    ]

    assert pages == [200, 403, 403, 403]
    assert "Restore or withdraw" not in words(looker.get(f"{LIST}{row.pk}/versions/"))


def test_changed_content_waits_for_publishing_and_says_whom_it_would_change(client):
    item = ContentItem.objects.create(kind="prompt", name="polite", text="Be polite.")
    row = make_application(manifest=POLITE)
    make_application("other")
    item.text = "Be very polite."
    item.save()

    (pending,) = pending_content()
    page = words(client.get(f"{LIST}{row.pk}/versions/"))
    listed = words(client.get("/admin/catalog/contentitem/unpublished/"))
    client.post(
        "/admin/catalog/contentitem/unpublished/", {"note": "Politer", "application": [row.pk]}
    )

    assert (pending.slug, pending.changes) == (
        "travel",
        [ContentChange("prompt", "polite", "Be polite.", "Be very polite.")],
    )
    assert "prompt polite: changed" in page
    assert ("Travel" in listed, "Other" in listed) == (True, False)
    assert 'after: + "Be very polite."' in listed
    assert (pending_content(), row.versions.latest("number").note) == ([], "Politer")


def typed(row: Application, **changes: str) -> dict[str, str]:
    typist = User.objects.filter(username="typist").first() or make_operator("typist")
    form = browser_of(typist).get(f"{LIST}{row.pk}/change/").context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    management = {"grants-TOTAL_FORMS": "0", "grants-INITIAL_FORMS": "0"}
    told = {
        name: value for name, value in values.items() if value is not None and value is not False
    }
    return {**told, **management, **changes}


def test_the_form_shows_and_saves_the_draft_if_there_is_one(client):
    row = make_application()
    began = typed(row, title="Tours")

    client.post(f"{LIST}{row.pk}/change/", {**began, "_save_draft": "1", "is_public": "on"})
    row.refresh_from_db()
    drafted = (row.title, row.is_public, row.draft.title, row.live_number)
    again = {**began, "seen_version": str(row.version), "_save_draft": "1"}
    late = words(client.post(f"{LIST}{row.pk}/change/", again))
    shown = client.get(f"{LIST}{row.pk}/change/").context["adminform"].form
    values = {**began, "title": "Trips", "seen_draft": "1", "seen_version": str(row.version)}
    said = words(client.post(f"{LIST}{row.pk}/change/", values, follow=True))

    row = Application.objects.get()
    assert drafted == ("Travel", True, "Tours", 1)
    assert "Somebody saved a draft of this application" in late
    assert (shown["title"].value(), shown["seen_draft"].value()) == ("Tours", 1)
    assert (row.title, row.live_number, row.draft.title) == ("Travel", 1, "Trips")
    assert "What you changed is in the draft" in said


TONE = {"tone": {"SKILL.md": "---\nname: tone\ndescription: How to speak.\n---\nBe kind.\n"}}
DRAFTS: dict[str, dict[str, Any]] = {
    "another title": {"title": "Tours", "description": "Two lines\nand a blank \n"},
    "a manifest": {"manifest": POLITE},
    "skills alone": {"skills": TONE},
    "nothing yet": {},
    "a manifest with mistakes": {"manifest": {"orchestrator": 1}},
}


@pytest.mark.parametrize("two", [False, True])
def test_access_is_saved_at_once_and_leaves_the_draft_alone(client, two):
    anna, sales = User.objects.create_user("anna"), Group.objects.create(name="Sales")
    rows = {}
    for number, (name, values) in enumerate(DRAFTS.items()):
        row = make_application(f"travel-{number}", needs_second_publisher=two, description="a\nb ")
        rows[name] = row.pk, digest_of_draft(save_draft(row, values, 0, anna))

    for pk, _ in rows.values():
        row = Application.objects.get(pk=pk)
        sent = {**as_browser(typed(row)), "is_public": "on", "owner": anna.pk}
        client.post(f"{LIST}{pk}/change/", {**sent, **grant_of("group", "Sales")})

    for name, (pk, digest) in rows.items():
        row = Application.objects.get(pk=pk)
        assert (row.is_public, row.owner, row.grants.get().group) == (True, anna, sales), name
        assert (row.live_number, row.description, skills_of(pk)) == (1, "a\nb ", {}), name
        assert (row.draft.version, digest_of_draft(row.draft)) == (1, digest), name


def test_access_is_saved_while_others_save_the_draft(client):
    row = make_application()
    save_draft(row, {"title": "Tours"}, 0, None)
    began = typed(row)
    save_draft(row, {"title": "Trips"}, 1, None)

    client.post(f"{LIST}{row.pk}/change/", {**began, "is_public": "on"})
    row.refresh_from_db()
    opened = row.is_public
    again = {**began, "seen_version": str(row.version), "title": "Journeys"}
    late = words(client.post(f"{LIST}{row.pk}/change/", again))

    row.refresh_from_db()
    assert (opened, row.draft.title, row.live_number) == (True, "Trips", 1)
    assert "Somebody saved a draft of this application" in late


def test_access_is_saved_whatever_is_wrong_with_what_is_live(client):
    row = make_application()
    broken = {"orchestrator": {"deployment": {"deployment_id": "gone"}, "nonsense": 1}}
    Application.objects.update(manifest=broken)

    values = {**as_browser(typed(row)), "is_public": "on", **grant_of("user", "operator")}
    client.post(f"{LIST}{row.pk}/change/", values)

    row.refresh_from_db()
    assert (row.is_public, row.live_number, row.grants.count()) == (True, 1, 1)
    assert row.manifest == broken


def test_what_is_live_is_published_by_the_form_only_where_it_was_changed(client):
    row = make_application(description="a\nb ")

    values = as_browser(typed(row))
    client.post(f"{LIST}{row.pk}/change/", {**values, "is_public": "on"})
    row.refresh_from_db()
    opened = (row.is_public, row.live_number)
    values = {**as_browser(typed(row)), "title": "Tours"}
    client.post(f"{LIST}{row.pk}/change/", values)

    row.refresh_from_db()
    assert opened == (True, 1)
    assert (row.title, row.description, row.live_number) == ("Tours", "a\nb ", 2)


def test_history_restores_what_is_live_and_never_over_a_draft(client):
    row = twice()
    save_properties(row, {"is_public": True}, None)
    draft = save_draft(row, {"title": "Tours"}, 0, None)
    changes = Change.objects.filter(object_id=row.pk, what="changed").order_by("pk")
    renamed, opened = changes

    pages = {}
    for change in (opened, renamed):
        page = f"{LIST}{row.pk}/history/{change.pk}/restore/before/"
        row.refresh_from_db()
        pages[change] = words(client.post(page, {"seen_version": str(row.version)}, follow=True))
        row.refresh_from_db()
    began = client.get(f"{LIST}{row.pk}/change/?restore={renamed.pk}-before")

    assert "Journeys is restored" in pages[opened]
    assert "There is a draft. Publish or discard it first." in pages[renamed]
    assert (row.is_public, row.title, row.live_number) == (False, "Journeys", 2)
    assert digest_of_draft(row.draft) == digest_of_draft(draft)
    assert began.context["adminform"].form["title"].value() == "Tours"


def test_what_was_never_published_is_not_enabled_by_the_form(client):
    row = Application(slug="tours", title="Tours", manifest=POLITE)
    new_application(row, None)
    values = as_browser(typed(row))

    refused = words(client.post(f"{LIST}{row.pk}/change/", {**values, "is_enabled": "on"}))
    client.post(f"{LIST}{row.pk}/change/", {**values, "is_shared": "on"})

    row.refresh_from_db()
    assert "Publish it first: it has no version to answer." in refused
    assert (row.is_enabled, row.is_shared, row.live_number) == (False, True, 0)
    assert row.draft.manifest == POLITE


def as_browser(values: dict[str, Any]) -> dict[str, Any]:
    """A browser sends lines of its own."""
    return {
        name: one.replace("\n", "\r\n") if isinstance(one, str) else one
        for name, one in values.items()
    }


def grant_of(kind: str, name: str) -> dict[str, str]:
    return {"grants-TOTAL_FORMS": "1", f"grants-0-{kind}": name, "grants-0-role": "1"}


def test_an_editor_who_may_not_publish_saves_drafts(client):
    row = make_application()
    editor = staff("view_application", "change_application")
    began = typed(row, title="Tours")

    refused = words(editor.post(f"{LIST}{row.pk}/change/", began))
    editor.post(f"{LIST}{row.pk}/change/", {**began, "_save_draft": "1"})

    row = Application.objects.get()
    assert "Your account may not publish" in refused
    assert (row.title, row.draft.title) == ("Travel", "Tours")


def test_two_people_publish_on_the_pages_of_versions(client):
    row = make_application(needs_second_publisher=True)
    anna, ben = signed_in("anna"), signed_in("ben")
    versions = f"{LIST}{row.pk}/versions/"
    began = typed(row, title="Tours")

    at_once = words(anna.post(f"{LIST}{row.pk}/change/", began))
    draft = save_draft(row, {"title": "Tours"}, 0, User.objects.get(username="anna"))
    before = words(anna.get(versions))
    shown = words(anna.get(f"{versions}request/"))
    stale = words(anna.post(f"{versions}request/", {"note": "Tours", "seen": "9"}))
    anna.post(f"{versions}request/", {"note": "Tours", "seen": draft.version})
    own = words(anna.get(f"{versions}publish/"))
    asked = words(ben.get(versions))
    listed = [
        [row.slug for row in one.get(f"{LIST}?publishing=waiting").context["cl"].result_list]
        for one in (anna, ben)
    ]
    state = words(ben.get(LIST))
    ben.post(f"{versions}return/", {"words": "Where <to>?"})
    returned = words(anna.get(versions))
    sent_back = ben.get(f"{LIST}?publishing=returned").context["cl"].result_list
    anna.post(f"{versions}request/", {"note": "Tours", "seen": draft.version})
    ben.post(f"{versions}publish/", {"note": "Tours", "seen": draft.version})

    assert "Two people publish this application. Save your change as a draft" in at_once
    assert ("Request publishing…" in before, "Publish…" in before) == (True, False)
    assert BEFORE in shown
    assert "You saved this draft just now, in another tab or program." in stale
    assert "somebody else has to publish it" in own
    assert "Publishing is requested anna," in asked
    assert "Publish or send back…" in asked
    assert listed == [[], ["travel"]]
    assert "publishing requested" in state
    assert "The draft was sent back ben," in returned
    assert "Where <to>?" in returned
    assert [one.slug for one in sent_back] == ["travel"]
    assert row.versions.latest("number").title == "Tours"


def test_an_earlier_version_becomes_the_draft_where_two_people_publish(client):
    row = twice()
    Application.objects.update(needs_second_publisher=True)

    refused = words(client.post(f"{LIST}{row.pk}/versions/1/restore/", {"note": "x"}, follow=True))
    client.post(f"{LIST}{row.pk}/versions/1/draft/")
    again = words(client.post(f"{LIST}{row.pk}/versions/1/draft/", follow=True))

    assert "Make the version the draft" in refused
    assert "There is a draft already" in again
    assert Application.objects.get().draft.title == "Travel"


def test_only_a_superuser_sees_the_option_to_let_one_person_publish_again(client):
    row = make_application(needs_second_publisher=True)
    editor = staff("view_application", "change_application", "publish_application")
    Grant.objects.create(application=row, user=User.objects.get(username="staff"), role=Role.OWNER)

    fields = [
        "needs_second_publisher"
        in one.get(f"{LIST}{row.pk}/change/").context["adminform"].form.fields
        for one in (client, editor)
    ]
    values = without_option(typed(row))
    both = words(client.post(f"{LIST}{row.pk}/change/", {**values, "title": "Tours"}))
    client.post(f"{LIST}{row.pk}/change/", values)

    assert fields == [True, False]
    assert "Two people publish this application" in both
    assert not Application.objects.get().needs_second_publisher
    assert AuditEntry.objects.get().subject == "one person"


def without_option(values: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if name != "needs_second_publisher"}


def test_a_draft_takes_over_the_live_version_field_by_field(client):
    row = make_application()
    save_draft(row, {"title": "Tours", "description": "Mine"}, 0, None)
    row.title, row.is_public = "Trips", True
    row.save()
    url = f"{LIST}{row.pk}/versions/take-over/"

    told = words(client.get(f"{LIST}{row.pk}/versions/"))
    page = client.get(url)
    undecided = words(client.post(url, {"seen": "1", "live": "2"}))
    stale = words(client.post(url, {"seen": "1", "live": "1", "choice:title": "mine"}))
    client.post(url, {"seen": "1", "live": "2", "choice:title": "theirs"})
    done = client.get(url, follow=True)

    assert "Take over the changes of version 2…" in told
    assert [clash.path for clash, _ in page.context["clashes"]] == ["title"]
    assert "changed the same places" in undecided
    assert "Version 2 went live meanwhile" in stale
    draft = Application.objects.get().draft
    assert (draft.title, draft.description, draft.based_on) == ("Trips", "Mine", 2)
    assert "has the changes of the live version already" in words(done)


# --- Many rows -------------------------------------------------------------------------------------


MOST_QUERIES = 15
PAGES = (
    LIST,
    f"{LIST}?state=changed",
    f"{LIST}?publishing=waiting",
    f"{LIST}{{pk}}/change/",
    f"{LIST}{{pk}}/versions/",
    f"{LIST}{{pk}}/versions/compare/?from=1&to=draft",
    f"{LIST}{{pk}}/versions/publish/",
    f"{LIST}{{pk}}/versions/request/",
    f"{LIST}{{pk}}/versions/take-over/",
    f"{LIST}{{pk}}/studio/",
    "/admin/catalog/contentitem/unpublished/",
    "/api/applications/",
    "/api/applications/many-0/",
    "/api/applications/many-0/draft/",
    "/api/applications/many-0/versions/",
)


def queries_of(client: Client, page: str, row: Application) -> int:
    with CaptureQueriesContext(connection) as found:
        answer = client.get(page.format(pk=row.pk))
        assert answer.status_code in (200, 302)
        answer.content  # noqa: B018 templates are rendered by now
    return len(found)


def test_no_page_asks_more_of_many_rows_than_of_a_few(settings):
    settings.CATALOG_MAX_AGE_SECONDS = 3600  # nothing is refreshed in between
    make_deployment()
    client = signed_in()
    (row, _) = make_many(2, 2, needs_second_publisher=True)
    client.get("/admin/find/")
    row.draft.based_on = 1
    row.draft.save()

    few = {page: queries_of(client, page, row) for page in PAGES}
    make_many(18, 20, needs_second_publisher=True)
    make_versions([row], 3, 20)
    many = {page: queries_of(client, page, row) for page in PAGES}

    assert {page: many[page] - few[page] for page in PAGES if many[page] > few[page]} == {}
    assert {page: count for page, count in many.items() if count > MOST_QUERIES} == {}
