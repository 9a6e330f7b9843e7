"""The page "What is remembered about you": G-21, G-28, G-32, R-09."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.models import Application
from apps.chat.memory.listing import ON_A_PAGE
from apps.conversations.models import Conversation
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.memories.memories import LocalMemories, find_memories
from apps.workspace.local.memories.memory_rows import write_merges
from apps.workspace.local.models import MemoryCollection, MemoryMerge, MemorySettings
from apps.workspace.local.workspace import LocalWorkspace
from apps.workspace.memories import operations
from apps.workspace.memories.port import ChangedMemories, MemoryItem, MemoryList, MergedMemories
from tests.catalog.rows import store_application
from tests.chat.scripts import MANIFEST
from tests.contract import proves
from tests.workspace.embeddings.hashed import HashedEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

REMEMBERING = {**MANIFEST, "features": {"memory": {"enabled": True}}}


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch) -> HashedEmbedder:
    made = HashedEmbedder()

    async def embedder_of(workspace: LocalWorkspace, deployment_id: str | None) -> Embedder:
        return made

    monkeypatch.setattr(LocalWorkspace, "embedder", embedder_of)
    return made


@pytest.fixture
def travel() -> Application:
    return store_application(
        is_shared=True, slug="travel", title="Travel desk", manifest=REMEMBERING
    )


def remember(user: User, *contents: str, application: str = "travel", **fields: Any) -> int:
    """Store memories. Return the key of their collection."""
    store = LocalMemories(f"user-{user.pk}", application)
    for number, content in enumerate(contents):
        memory = MemoryItem(1_700_000_000 + number, content, **fields)
        async_to_sync(operations.add)(store, HashedEmbedder(), memory)
    return MemoryCollection.objects.get(bucket=f"user-{user.pk}", application=application).pk


def remembered(user: User, application: str = "travel") -> Sequence[MemoryItem]:
    store = LocalMemories(f"user-{user.pk}", application)
    return async_to_sync(operations.list_memories)(store)


def contents(user: User, application: str = "travel") -> list[str]:
    return [memory.content for memory in remembered(user, application)]


def shown(response: Any) -> dict[str, list[str]]:
    """Return the texts by the titles of the sections."""
    return {
        section.title: [memory.row.content for memory in section.memories]
        for section in response.context["sections"]
    }


def told(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


@pytest.mark.usefixtures("travel")
def test_a_person_sees_what_each_application_remembers_of_them(browser, grace):
    remember(grace, "Lives in Riga", "Likes <b>tea</b>", topics=("drinks",), category="preferences")
    remember(grace, "Speaks Latvian", application="")
    remember(grace, "Uses vim", application="gone")
    remember(User.objects.create_user("ada"), "A secret of Ada")

    response = browser.get("/memory/")

    assert shown(response) == {
        "Shared between apps": ["Speaks Latvian"],
        "gone": ["Uses vim"],
        "Travel desk": ["Likes <b>tea</b>", "Lives in Riga"],
    }
    assert "Likes &lt;b&gt;tea&lt;/b&gt;" in response.text
    assert "Topics: drinks" in response.text
    assert "A secret of Ada" not in response.text


def test_who_is_not_signed_in_is_asked_to():
    for path in ("/memory/", "/memory/delete/", "/memory/1/2/", "/memory/1/export/"):
        assert Client().get(path).headers["Location"] == f"/accounts/login/?next={path}"
    assert Client().post("/memory/1/forget/", {"memory": "2"}).status_code == 302


@pytest.mark.parametrize(
    ("method", "path", "form"),
    [
        ("get", "/memory/{c}/1700000000/", {}),
        ("post", "/memory/{c}/1700000000/", {"content": "x", "importance": "1"}),
        ("post", "/memory/{c}/forget/", {"memory": "1700000000"}),
        ("get", "/memory/{c}/delete/", {}),
        ("post", "/memory/{c}/delete/", {}),
        ("get", "/memory/{c}/export/", {}),
        ("post", "/memory/{c}/undo/", {"merge": "1"}),
    ],
)
def test_the_memory_of_somebody_else_is_not_there(browser, method, path, form):
    ada = User.objects.create_user("ada")
    collection = remember(ada, "A secret of Ada")
    MemoryMerge.objects.create(
        collection_id=collection, number=1, survivor=1, merged_at=timezone.now(), originals=[]
    )

    response = getattr(browser, method)(path.format(c=collection), form)

    assert response.status_code == 404
    assert contents(ada) == ["A secret of Ada"]


@pytest.mark.parametrize(
    "path",
    [
        "/memory/settings/",
        "/memory/import/",
        "/memory/delete/",
        "/memory/1/forget/",
        "/memory/1/undo/",
        "/memory/1/delete/",
        "/memory/1/2/",
    ],
)
def test_a_form_of_another_site_changes_nothing(grace, path):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(grace)

    assert strict.post(path).status_code == 403


@pytest.mark.usefixtures("travel")
def test_nothing_yet_says_how_it_comes_about(browser):
    response = browser.get("/memory/")

    assert "No memories" in response.text
    assert 'href="/chat/travel/" dir="auto">Travel desk</a>' in response.text


def test_without_an_application_that_remembers_that_is_said(browser):
    assert "None of your apps have memory yet. What apps save about" in browser.get("/memory/").text


def test_categories_are_shown_and_searched_in_words(browser, grace):
    remember(grace, "Lives in Riga", category="personal_info", importance=0.9)
    remember(grace, "Likes tea", category="eating_habits", application="")

    page = browser.get("/memory/").content.decode()
    found = browser.get("/memory/", {"q": "eating habits"}).content.decode()

    assert "<span><bdi>Personal</bdi></span>" in page
    assert "<span><bdi>Eating habits</bdi></span>" in page
    assert "0.9" not in page
    assert "Likes tea" in found
    assert "Lives in Riga" not in found


@pytest.mark.parametrize("query", ["РИГЕ", "places", "города", "живёт в"])
def test_memories_are_searched_by_text_category_and_topic(browser, grace, query):
    remember(grace, "Живёт в Риге", category="Places", topics=("города",))
    remember(grace, "Likes tea", application="other")

    response = browser.get("/memory/", {"q": query})

    assert shown(response) == {"travel": ["Живёт в Риге"]}
    assert "1 memory found" in response.text


@pytest.mark.parametrize("query", ["%", "\0", "x" * 10_000, "' OR 1=1", "<script>"])
def test_any_query_finds_what_has_it(browser, grace, query):
    remember(grace, "Likes tea")

    response = browser.get("/memory/", {"q": query, "page": "-7"})

    assert response.status_code == 200
    assert "<script>" not in response.text.partition("<main")[2]


def test_many_memories_are_on_several_pages(browser, grace):
    remember(grace, *(f"Fact {n:03}" for n in range(ON_A_PAGE + 5)))

    [first] = browser.get("/memory/").context["sections"]
    [second] = browser.get("/memory/?page=2").context["sections"]

    assert (len(first.memories), len(second.memories)) == (ON_A_PAGE, 5)
    assert (first.count, second.count) == (ON_A_PAGE + 5, ON_A_PAGE + 5)


@proves("G-32")
def test_a_memory_is_changed(browser, grace, embedder):
    collection = remember(grace, "Lives\nin Riga")
    address = f"/memory/{collection}/1700000000/"
    page = browser.get(address)
    form = {**page.context["form"].initial, "content": "Lives\r\nin Riga"}

    unchanged = browser.post(address, form)
    asked = list(embedder.asked)
    changes = {"category": "places", "importance": "0.9", "topics": "home,  city , home"}
    browser.post(address, {**form, **changes})
    browser.post(address, {**form, **changes, "content": "Lives in Oslo"})

    [memory] = remembered(grace)
    assert (unchanged.status_code, asked) == (302, [])
    assert memory == MemoryItem(1_700_000_000, "Lives in Oslo", 0.9, "places", ("home", "city"))
    assert embedder.asked == [("Lives in Oslo",)]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"content": " "}, "This field is required."),
        ({"content": "x" * 2_001}, "It has 2,001 characters; the limit is 2,000."),
        ({"importance": "1.1"}, "Ensure this value is less than or equal to 1."),
        ({"importance": "nan"}, "Enter a number."),
        ({"category": "x" * 61}, "Ensure this value has at most 60 characters"),
        ({"topics": ",".join(map(str, range(21)))}, "There are 21 topics; the limit is 20."),
    ],
)
def test_what_is_wrong_stands_beside_its_field(browser, grace, wrong, problem):
    collection = remember(grace, "Lives in Riga")
    form = {"content": "Lives in Oslo", "category": "c", "importance": "0.5", "topics": ""}

    response = browser.post(f"/memory/{collection}/1700000000/", {**form, **wrong})

    [field] = wrong
    assert response.status_code == 400
    assert problem in response.context["form"].errors[field][0]
    assert contents(grace) == ["Lives in Riga"]


def test_one_memory_is_forgotten(browser, grace):
    collection = remember(grace, "Lives in Riga", "Likes tea")

    response = browser.post(f"/memory/{collection}/forget/", {"memory": "1700000000"}, follow=True)

    assert (told(response), contents(grace)) == (["Memory forgotten."], ["Likes tea"])


@pytest.mark.parametrize("number", [0, 2**63, 10**30])
def test_what_is_not_remembered_has_no_page(browser, grace, number):
    collection = remember(grace, "Lives in Riga")

    assert browser.get(f"/memory/{collection}/{number}/").status_code == 404
    assert browser.get(f"/memory/{number}/1700000000/").status_code == 404
    assert browser.get(f"/memory/{number}/export/").status_code == 404


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 30, "1700000001"])
def test_what_is_not_remembered_cannot_be_forgotten(browser, grace, number):
    collection = remember(grace, "Lives in Riga")

    response = browser.post(f"/memory/{collection}/forget/", {"memory": number})

    assert (response.status_code, contents(grace)) == (404, ["Lives in Riga"])


def test_all_of_one_application_is_deleted_after_a_question(browser, grace, travel):
    collection = remember(grace, "Lives in Riga", "Likes tea")
    remember(grace, "Uses vim", application="other")

    asked = browser.get(f"/memory/{collection}/delete/")
    still = contents(grace)
    browser.post(f"/memory/{collection}/delete/")

    assert "Delete all memories in “Travel desk”?" in asked.text
    assert "2 memories will be permanently deleted" in asked.text
    assert (still, contents(grace)) == (["Lives in Riga", "Likes tea"], [])
    assert contents(grace, "other") == ["Uses vim"]


def test_everything_is_deleted_after_a_question(browser, grace):
    ada = User.objects.create_user("ada")
    remember(ada, "A secret of Ada")
    remember(grace, "Lives in Riga")
    remember(grace, "Uses vim", application="")

    asked = browser.get("/memory/delete/")
    browser.post("/memory/delete/")

    assert "2 memories will be permanently deleted" in asked.text
    assert not MemoryCollection.objects.filter(bucket=f"user-{grace.pk}").exists()
    assert contents(ada) == ["A secret of Ada"]


def merge(user: User) -> int:
    """Merge two memories. Return the key of their collection."""
    collection = remember(user, "Lives in Riga. Lives in Riga, Latvia")
    row = MemoryCollection.objects.get(pk=collection)
    originals = [MemoryItem(1_700_000_000, "Lives in Riga"), MemoryItem(5, "Lives in Riga, Latvia")]
    one = MergedMemories(3, 1_700_000_000, timezone.now(), tuple(originals))
    write_merges(row, ChangedMemories(MemoryList(), None, merged=[one]))
    return collection


def test_a_merge_is_undone(browser, grace):
    collection = merge(grace)

    page = browser.get("/memory/")
    response = browser.post(f"/memory/{collection}/undo/", {"merge": "3"}, follow=True)

    assert page.context["sections"][0].merges[0]["texts"] == [
        "Lives in Riga",
        "Lives in Riga, Latvia",
    ]
    assert told(response) == ["The merge was undone."]
    assert sorted(contents(grace)) == ["Lives in Riga", "Lives in Riga, Latvia"]
    assert response.context["sections"][0].merges == []


def test_an_old_merge_is_not_offered(browser, grace):
    merge(grace)
    MemoryMerge.objects.update(merged_at=timezone.now() - timedelta(days=31))

    assert browser.get("/memory/").context["sections"][0].merges == []


@proves("G-32")
def test_an_export_can_be_imported_again_and_again(browser, grace):
    collection = remember(grace, "Lives in Riga", "Likes tea", topics=("home",))
    before = remembered(grace)
    exported = browser.get(f"/memory/{collection}/export/")
    browser.post(f"/memory/{collection}/delete/", follow=True)
    MemoryCollection.objects.create(bucket=f"user-{grace.pk}", application="travel")

    first, second = (
        browser.post("/memory/import/", upload(exported.content), follow=True) for _ in range(2)
    )

    assert exported.headers["Content-Disposition"] == (
        "attachment; filename*=UTF-8''memories-travel.json"
    )
    document = json.loads(exported.content)
    assert [one["data"]["content"] for one in document["memories"]] == [
        "Lives in Riga",
        "Likes tea",
    ]
    assert told(first) == ["2 new memories imported."]
    assert told(second) == ["0 new memories imported."]
    assert remembered(grace) == before


def upload(content: bytes, application: str = "travel") -> dict[str, Any]:
    return {"application": application, "file": SimpleUploadedFile("m.json", content)}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "This isn"),
        (b" " * (8 * 2**20 + 1), "The file is larger than 8 MB."),
        (b'{"memories": [{"data": {"id": 1}}]}', "$.memories[0].data"),
        (
            b'{"memories": [{"data": {"id": 1, "content": "a"}},'
            b' {"data": {"id": 2, "content": "b", "importance": 7}}]}',
            "memories[1].data.importance",
        ),
    ],
    ids=["no JSON", "too large", "without a content", "without sense"],
)
@pytest.mark.usefixtures("travel")
def test_a_file_that_cannot_be_read_leaves_nothing(browser, grace, content, problem):
    response = browser.post("/memory/import/", upload(content))

    assert response.status_code == 400
    assert problem in response.context["problem"]
    assert contents(grace) == []


@pytest.mark.usefixtures("travel")
def test_a_file_has_to_be_chosen(browser):
    response = browser.post("/memory/import/", {"application": "travel"})

    assert (response.status_code, response.context["problem"]) == (400, "Choose a file first.")


def test_nothing_is_imported_for_what_does_not_remember(browser):
    store_application(is_shared=True, slug="plain", title="Plain", manifest=MANIFEST)

    for slug in ("plain", "nobody"):
        assert browser.post("/memory/import/", upload(b"{}", slug)).status_code == 404


def test_a_person_switches_their_memory_off_and_shares_it(browser, grace):
    caller = Caller(f"user-{grace.pk}", "user", user_id=grace.pk)
    usual = find_memories(caller, "travel", is_shared=True)
    browser.post("/memory/settings/", {"is_enabled": "on", "is_shared": "on"}, follow=True)
    shared = find_memories(caller, "travel", is_shared=True)
    response = browser.post("/memory/settings/", {}, follow=True)

    assert usual == LocalMemories(caller.bucket, "travel")
    assert shared == LocalMemories(caller.bucket, "")
    assert find_memories(caller, "travel", is_shared=True) is None
    assert told(response) == ["Saved. Changes apply from your next message."]
    stored = MemorySettings.objects.get(user=grace)
    assert (stored.is_enabled, stored.is_shared) == (False, False)


def test_a_script_changes_one_switch_of_the_memory(browser, grace):
    json = {"Accept": "application/json"}
    saved = browser.post(
        "/memory/settings/", {"changed": "is_shared", "is_shared": "on"}, headers=json
    )

    stored = MemorySettings.objects.get(user=grace)
    assert (saved.status_code, stored.is_enabled, stored.is_shared) == (204, True, True)


def test_the_page_of_a_conversation_has_the_switch_where_there_is_a_memory(browser, grace, travel):
    store_application(is_shared=True, slug="plain", title="Plain", manifest=MANIFEST)
    travel.is_public = True
    travel.save()
    mine = Conversation.objects.create(application=travel, owner=f"user-{grace.pk}", title="Hi")
    address = f"/chat/travel/{mine.pk}/"

    def switch(path: str, of: Client = browser) -> Any:
        return of.get(path).context["memory"]

    new, plain, visitor = switch("/chat/travel/"), switch("/chat/plain/"), None
    visitor = switch("/chat/travel/", Client())
    on = switch(address)
    browser.post(f"{address}memory/", {"on": "false"})
    off = switch(address)
    browser.post(f"{address}memory/", {"on": "true"})
    again = switch(address)
    browser.post("/memory/settings/", {})

    assert (new, plain, visitor) == (True, None, None)
    assert (on, off, again) == (True, False, True)
    assert switch(address) is None


def test_the_switch_of_somebody_else_is_not_there(browser, travel):
    other = Conversation.objects.create(application=travel, owner="user-999", title="Hi")

    assert browser.post(f"/chat/travel/{other.pk}/memory/", {"on": "false"}).status_code == 404
    other.refresh_from_db()
    assert other.has_memory


def listed(browser: Client) -> list[str]:
    return [section.title for section in browser.get("/memory/").context["sections"]]


def test_an_application_does_not_inherit_what_a_deleted_one_of_its_slug_remembers(
    browser, grace, travel
):
    remember(grace, "Likes tea")
    number = travel.pk

    travel.delete()
    heir = store_application(is_shared=True, slug="travel", title="New desk", manifest=REMEMBERING)
    caller = Caller("grace", "user", user_id=grace.pk)
    assert not MemoryCollection.objects.filter(application="travel").exists()
    assert find_memories(caller, "travel", is_shared=False) is not None
    assert listed(browser) == ["travel (deleted)"]

    heir.delete()
    store_application(is_shared=True, pk=number, slug="travel", title="Desk", manifest=REMEMBERING)
    assert listed(browser) == ["Desk"]
    assert MemoryCollection.objects.get().application == "travel"


def test_memories_follow_the_slug_of_their_application(browser, grace, travel):
    remember(grace, "Likes tea")

    travel.slug = "trips"
    travel.save()
    heir = store_application(is_shared=True, slug="travel", title="Heir", manifest=REMEMBERING)
    remember(grace, "Likes coffee")
    heir.title = "New desk"
    heir.save(update_fields={"title"})

    assert listed(browser) == ["New desk", "Travel desk"]
    assert (contents(grace, "trips"), contents(grace)) == (["Likes tea"], ["Likes coffee"])


def test_nobody_loses_memories_that_were_left_under_the_new_slug(grace, travel):
    remember(grace, "Likes tea")
    remember(grace, "Likes coffee", application="trips")

    travel.slug = "trips"
    travel.save()

    assert (contents(grace), contents(grace, "trips")) == (["Likes tea"], ["Likes coffee"])
