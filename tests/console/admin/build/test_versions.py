from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.catalog.actions import save_draft, set_properties
from apps.catalog.models import (
    Application,
    ApplicationVersion,
    Change,
    ContentItem,
)
from apps.catalog.versions.content_changes import ContentChange, outdated_applications
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.version_recorder import save_live
from apps.console.publishing_texts import PUBLISHING_TEXTS
from apps.workspace.local.secrets.field import UnreadableSecret
from tests.catalog.rows import make_application, make_deployment, manifest_with
from tests.catalog.versions.rows import make_many, make_versions
from tests.console.pages import signed_in, staff, words
from tests.console.studio.asking import page_data, send, written

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
    save_live(row)
    return row


def test_versions_are_listed_and_compared(client):
    row = twice()
    save_draft.execute(row, {"title": "Tours"}, 0, None)

    page = words(client.get(f"{LIST}{row.pk}/versions/"))
    compared = words(client.get(f"{LIST}{row.pk}/versions/compare/?from=1&to=draft"))
    missing = [
        client.get(f"{LIST}{row.pk}/versions/compare/?{query}").status_code
        for query in ("from=1&to=9", "from=x&to=1", "", "from=99999999999999999999&to=1")
    ]

    assert "Live with unpublished changes" in page
    assert page.index("Version 2 live") < page.index("Version 1")
    assert BEFORE in compared
    assert "version 1 and draft" in compared
    assert "Version 2 (live): " in compared
    assert missing == [404] * 4


def test_a_version_that_no_key_reads_is_compared_without_its_manifest(client):
    row = twice()
    unreadable = UnreadableSecret.of("fits no key")
    ApplicationVersion.objects.filter(number=1).update(document=unreadable)

    page = client.get(f"{LIST}{row.pk}/versions/compare/?from=1&to=2")

    found = [(one.path, one.before) for one in page.context["differences"]]
    assert found == [("title", '"Travel"'), ("manifest", '""')]


def test_a_draft_is_published_with_a_note_after_its_changes_were_seen(client):
    row = make_application()
    draft = save_draft.execute(row, {"title": "Tours"}, 0, None)
    url = f"{LIST}{row.pk}/versions/publish/"

    shown = words(client.get(url))
    stale = words(client.post(url, {"note": "New", "seen": "0"}))
    silent = words(client.post(url, {"note": " ", "seen": draft.version}))
    client.post(url, {"note": "Another title", "seen": draft.version})

    assert BEFORE in shown
    assert "Release note" in shown
    assert PUBLISHING_TEXTS["only_new"] in shown
    assert "Checks No issues" in shown
    assert "Another user saved this draft while you were editing it." in stale
    assert "Enter a note that describes the changes." in silent
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
    assert "Nobody can use this application." in words(client.get(f"{LIST}{row.pk}/versions/"))
    assert [one.slug for one in client.get(f"{LIST}?state=archived").context["cl"].result_list] == [
        "travel"
    ]


def test_the_page_for_publishing_shows_the_checks_of_the_studio(client):
    row = make_application()
    save_draft.execute(row, {"manifest": manifest_with(orchestrator={"depl": 1})}, 0, None)

    page = client.get(f"{LIST}{row.pk}/versions/publish/")

    data = page_data(client, row)
    checked = send(client, row, "check", written(data)).json()["findings"]
    assert page.context["findings"] == checked
    errors = [one["label"] for one in checked if one["severity"] == "error"]
    assert errors
    assert [label for label in errors if f"Error {label}" not in words(page)] == []
    assert page.context["texts"] == data["publishing"]


def test_archiving_asks_first_and_an_archived_application_is_not_published(client):
    row = twice()
    versions = f"{LIST}{row.pk}/versions/"
    draft = save_draft.execute(row, {"title": "Tours"}, 0, None)

    before = words(client.get(versions))
    asked = words(client.get(f"{LIST}{row.pk}/archive/"))
    row.refresh_from_db()
    was_archived = row.archived_at is not None
    client.post(f"{LIST}{row.pk}/archive/")
    archived = words(client.get(versions))
    refused = [
        client.get(f"{versions}publish/").status_code,
        client.post(f"{versions}publish/", {"note": "x", "seen": draft.version}).status_code,
        client.post(f"{versions}1/restore/", {"note": "x"}).status_code,
    ]

    assert "Archive this application…" in before
    assert "Archive Journeys? Nobody can use it until you unarchive it." in asked
    assert was_archived is False
    assert "Version 2 archived" in archived
    assert "Compare the draft with version 2" in archived
    shown = ("Version 2 live", "Publish…", "Restore or withdraw", "Archive this application")
    assert [one for one in shown if one in archived] == []
    assert refused == [403] * 3


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

    (pending,) = outdated_applications()
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
    assert (outdated_applications(), row.versions.latest("number").note) == ([], "Politer")


def test_history_restores_properties_at_once_and_no_text_over_a_draft(client):
    row = twice()
    set_properties.execute(row, {"is_public": True}, None)
    draft = save_draft.execute(row, {"title": "Tours"}, 0, None)
    changes = Change.objects.filter(object_id=row.pk, what="changed").order_by("pk")
    renamed, opened = changes

    pages = {}
    for change in (opened, renamed):
        page = f"{LIST}{row.pk}/history/{change.pk}/restore/before/"
        row.refresh_from_db()
        pages[change] = words(client.post(page, {"seen_version": str(row.version)}, follow=True))
        row.refresh_from_db()

    assert "Journeys was restored." in pages[opened]
    assert "There is a draft. Publish or discard it first." in pages[renamed]
    assert (row.is_public, row.title, row.live_number) == (False, "Journeys", 2)
    assert definition_of(row.draft).digest == definition_of(draft).digest


def test_two_people_publish_on_the_pages_of_versions(client):
    row = make_application(needs_second_publisher=True)
    anna, ben = signed_in("anna"), signed_in("ben")
    versions = f"{LIST}{row.pk}/versions/"

    draft = save_draft.execute(row, {"title": "Tours"}, 0, User.objects.get(username="anna"))
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

    assert ("Request publishing…" in before, "Publish…" in before) == (True, False)
    assert BEFORE in shown
    assert "You saved this draft just now, in another tab or program." in stale
    assert "so another user must publish it." in own
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
    assert "A draft already exists. Publish or discard it first." in again
    assert Application.objects.get().draft.title == "Travel"


def test_a_draft_takes_over_the_live_version_field_by_field(client):
    row = make_application()
    save_draft.execute(row, {"title": "Tours", "description": "Mine"}, 0, None)
    row.title, row.is_public = "Trips", True
    save_live(row)
    url = f"{LIST}{row.pk}/versions/take-over/"

    told = words(client.get(f"{LIST}{row.pk}/versions/"))
    page = client.get(url)
    undecided = words(client.post(url, {"seen": "1", "live": "2"}))
    stale = words(client.post(url, {"seen": "1", "live": "1", "choice:title": "mine"}))
    client.post(url, {"seen": "1", "live": "2", "choice:title": "theirs"})
    done = client.get(url, follow=True)

    assert "Merge the changes of version 2…" in told
    assert [clash.path for clash, _ in page.context["clashes"]] == ["title"]
    assert "changed the same fields" in undecided
    assert "Version 2 was published in the meantime." in stale
    draft = Application.objects.get().draft
    assert (draft.title, draft.description, draft.based_on) == ("Trips", "Mine", 2)
    assert "The draft already contains the changes of the live version." in words(done)


# --- Many rows -------------------------------------------------------------------------------------


MOST_QUERIES = 17
REVIEW_QUERIES = 5
"""The additional queries of the page that reviews the draft."""
PAGES = (
    LIST,
    f"{LIST}?state=changed",
    f"{LIST}?publishing=waiting",
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


def test_no_page_asks_more_of_many_rows_than_of_a_few(monkeypatch):
    monkeypatch.setattr(
        "apps.process_state.MAX_AGE_SECONDS", 3600
    )  # nothing is refreshed in between
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
    allowed = {page: MOST_QUERIES + REVIEW_QUERIES * page.endswith("/publish/") for page in PAGES}
    assert {page: count for page, count in many.items() if count > allowed[page]} == {}
