"""Teams on the page: switching, separation of data, readers and members."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.caller import Caller, bucket_of, caller_in
from apps.accounts.models import ApiKey, AuditEntry, Picture, Team
from apps.catalog.models import Application
from apps.conversations.access import person_stream
from apps.conversations.answering.requests import find_earlier
from apps.conversations.models import Conversation, Message
from apps.doors.sessions import has_switched
from apps.insights.budgets.models import Budget
from apps.live.hub import Hub
from apps.live.models import Consent
from apps.workspace.local.memories.remembered import MemoryCollection, StoredMemory
from apps.workspace.local.models import ToolAccount
from tests.accounts.teams import make_team, working_in
from tests.catalog.rows import make_application
from tests.chat.scripts import MANIFEST, says, scene, settled
from tests.contract import proves
from tests.conversations.files.test_files import joined
from tests.task_api.test_event_stream import Stream

pytestmark = pytest.mark.django_db

REMEMBERING = {**MANIFEST, "features": {"memory": {"enabled": True}}}


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def grace() -> User:
    return User.objects.create_user("grace")


@pytest.fixture
def travel() -> Application:
    return make_application(manifest=REMEMBERING)


def begin(user: User, team: Team | None, application: Application, mark: str) -> Conversation:
    caller = caller_in(user.pk, None if team is None else team.pk)
    conversation = Conversation.objects.create(
        application=application,
        owner=caller.bucket,
        title=mark,
        team=team,
        visibility=None if team is None else team.visibility,
    )
    Message.objects.create(conversation=conversation, role="user", text=f"{mark} question")
    Message.objects.create(conversation=conversation, role="assistant", text=f"{mark} **answer**")
    return conversation


@proves("T-42")
def test_a_person_switches_between_their_teams_and_to_no_other(ada, grace):
    docs, sales = make_team("Docs", ada), make_team("Sales", grace)
    client = working_in(ada, docs)
    shown = client.get("/").text
    foreign = client.post("/teams/switch/", {"team": sales.pk})
    wrong = [client.post("/teams/switch/", {"team": one}) for one in ("0", "x", "9" * 30, "²")]
    back = client.post("/teams/switch/", {"team": ""})

    assert "You are working in the team" in shown
    assert [foreign.status_code, *(one.status_code for one in wrong)] == [404] * 5
    assert back.status_code == 302
    assert "You are working in the team" not in client.get("/").text
    assert Client().post("/teams/switch/", {"team": docs.pk}).status_code == 302  # to sign in
    assert client.get("/teams/switch/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/teams/switch/").status_code == 403


@proves("T-42")
def test_nothing_of_one_team_is_seen_in_another(ada, travel):
    docs, sales = make_team("Docs", by=ada), make_team("Sales", by=ada)
    places = {"docs": docs, "sales": sales, "own": None}
    browsers = {name: working_in(ada, team) for name, team in places.items()}
    marks = {name: f"mark{name}{uuid4().hex[:6]}" for name in places}
    begun = {name: fill(browsers[name], ada, places[name], travel, marks[name]) for name in places}

    for here, client in browsers.items():
        team = places[here]
        caller = caller_in(ada.pk, None if team is None else team.pk)
        seen = "".join(text_of(client.get(one)) for one in PAGES)
        resolved: Any = type("Resolved", (), {"id": travel.pk, "slug": travel.slug})
        found = find_earlier(caller, resolved, uuid4(), "mark", 20)
        seen += "".join(hit.title for hit in found)
        assert marks[here] in seen
        for there in places.keys() - {here}:
            addresses = begun[there]
            answers = [client.get(one) for one in addresses]
            assert marks[there] not in seen
            assert {one.status_code for one in answers} == {404}
            assert not any(marks[there] in text_of(one) for one in answers)
            kinds = [client.post(f"{addresses[0]}{what}/").status_code for what in ORDERS]
            assert kinds == [404] * len(ORDERS)
    assert Conversation.objects.count() == 3


ORDERS = ("rename", "delete", "memory")
PAGES = ("/", "/chat/travel/", "/memory/", "/connections/", "/approvals/", "/teams/")


def fill(
    client: Client, user: User, team: Team | None, application: Application, mark: str
) -> list[str]:
    """Leave marks wherever a user can. Return the addresses that lead to them."""
    conversation = begin(user, team, application, mark)
    bucket = conversation.owner
    collection, _ = MemoryCollection.objects.get_or_create(
        bucket=bucket, application=application.slug
    )
    number = collection.memories.count() + 1
    StoredMemory.objects.create(
        collection=collection, number=number, content=mark, importance=1, category="x", vector=b""
    )
    ToolAccount.objects.create(
        bucket=bucket,
        server=f"https://{mark}.example",
        title=mark,
        connected_at=conversation.created_at,
    )
    Consent.objects.create(bucket=bucket, application=application, tool=mark, mode="confirm")
    sent = {
        "conversation": str(conversation.pk),
        "file": SimpleUploadedFile(f"{mark}.txt", mark.encode()),
    }
    stored = client.post(f"/chat/{application.slug}/files/", sent).json()
    base = f"/chat/{application.slug}/{conversation.pk}/"
    assert text_of(client.get(f"/{stored['url']}")) == mark
    return [
        *(base, f"{base}download/", f"{base}usage/", f"{base}files/", f"/{stored['url']}"),
        *(f"/memory/{collection.pk}/{number}/", f"/memory/{collection.pk}/export/"),
        f"/teams/conversations/{conversation.pk}/",
    ]


def text_of(answer: Any) -> str:
    content: bytes = async_to_sync(joined)(answer) if answer.streaming else answer.content
    return content.decode()


@proves("T-42")
async def test_a_conversation_begins_in_the_team_and_its_page_closes_when_it_is_left(ada):
    docs = await sync_to_async(make_team)("Docs", ada, visibility="members")
    client = await sync_to_async(working_in)(ada, docs)
    async with scene() as on:
        on.visitor.user, on.visitor.session = ada, await sync_to_async(lambda: client.session)()
        tab, hub = await on.visitor.tab(on.hub), Hub()
        stream = Stream(on.visitor, hub, "")
        await stream.start()
        await tab.exchange("Hello?", says("Hello."))
        conversation = tab.conversation
        await tab.send_json_to({"type": "watch"})
        await tab.until("queue.changed")
        await settled(on.hub)
        follower = Stream(on.visitor, on.hub, f"conversation={conversation}")
        await follower.start()
        await follower.event()
        await sync_to_async(client.post)("/teams/switch/", {"team": ""})
        on.hub.streams.wake(tab_stream(ada, docs))
        hub.streams.wake(tab_stream(ada, docs))
        await tab.until("team.changed")
        closed = await tab.receive_output(60)
        names = []
        while "TeamChanged" not in names:
            names.append((await stream.event())[1])
        await stream.wait(60)
        await follower.wait(60)  # the stream of the conversation ends, too

    row = await Conversation.objects.aget(pk=conversation)
    assert (row.owner, row.team_id, row.visibility) == (
        f"user-{ada.pk}-team-{docs.pk}",
        docs.pk,
        "members",
    )
    assert closed == {"type": "websocket.close", "code": 4409}


def tab_stream(user: User, team: Team) -> Any:
    return person_stream(bucket_of(user.pk, team.pk))


@proves("T-42")
async def test_one_who_was_removed_asks_nothing_more_in_the_team(ada):
    docs = await sync_to_async(make_team)("Docs", ada)
    client = await sync_to_async(working_in)(ada, docs)
    async with scene() as on:
        on.visitor.user, on.visitor.session = ada, await sync_to_async(lambda: client.session)()
        tab = await on.visitor.tab(on.hub)
        await ada.groups.aclear()
        await tab.send_json_to({"type": "ask", "id": str(uuid4()), "text": "Hello?"})
        told = await tab.frame()

    assert told["type"] == "team.changed"
    assert await Conversation.objects.acount() == 0


def test_the_key_of_a_person_who_has_left_the_team_reads_on_nothing(ada):
    docs = make_team("Docs", ada)
    key, _ = ApiKey.objects.create_key(name="n", user=ada, team=docs)
    caller = Caller(f"key-{key.prefix}", "key", key_user_id=ada.pk, team=docs.pk)

    assert not has_switched(caller, "")
    ada.groups.clear()
    assert has_switched(caller, "")
    assert not has_switched(replace(caller, team=None), "")


WHO = ("author", "member", "administrator", "auditor", "elsewhere", "stranger")
READERS = {
    "members": {"member", "administrator", "auditor"},
    "administrators": {"administrator", "auditor"},
    "installation": {"auditor"},
}


@proves("T-43")
@pytest.mark.parametrize("visibility", READERS)
def test_t_43_others_read_as_far_as_the_team_is_open(travel, visibility):
    people = {name: User.objects.create_user(name) for name in WHO}
    of_team = [people[name] for name in WHO if name != "stranger"]
    docs = make_team("Docs", *of_team, by=people["administrator"], visibility=visibility)
    reading = Permission.objects.get(codename="read_run_contents")
    people["auditor"].user_permissions.add(reading)
    conversation = begin(people["author"], docs, travel, "Trip")
    address = f"/teams/conversations/{conversation.pk}/"
    browsers = {
        name: working_in(user, None if name in ("elsewhere", "stranger") else docs)
        for name, user in people.items()
    }

    opened = {name for name, one in browsers.items() if one.get(address).status_code == 200}
    row = f'<a href="{address}">Trip</a>'
    listed = {
        name for name, one in browsers.items() if row in one.get("/teams/conversations/").text
    }
    base = f"/chat/travel/{conversation.pk}/"
    may = {name for name, one in browsers.items() if one.get(base).status_code == 200}
    changed = {
        name
        for name, one in browsers.items()
        if name != "author" and one.post(f"{base}delete/").status_code != 404
    }

    assert opened == listed == READERS[visibility]
    assert (may, changed) == ({"author"}, set())
    read = AuditEntry.objects.filter(event="contents.read", conversation=conversation.pk)
    names = {f"user-{people[name].pk}-team-{docs.pk}" for name in opened}
    assert set(read.values_list("actor", flat=True)) == names


@proves("T-43")
def test_t_43_a_team_that_is_opened_shows_nothing_of_before(ada, grace, travel):
    docs = make_team("Docs", grace, by=ada)
    before = begin(grace, docs, travel, "Before")
    manager = working_in(ada, docs)
    manager.post(f"/teams/{docs.pk}/", {"do": "visibility", "visibility": "members"})
    docs.refresh_from_db()
    after = begin(grace, docs, travel, "After")

    assert manager.get(f"/teams/conversations/{before.pk}/").status_code == 404
    assert manager.get(f"/teams/conversations/{after.pk}/").status_code == 200
    assert docs.visibility == "members"


def test_a_file_of_a_shared_conversation_is_read_and_no_other(ada, grace, travel):
    docs = make_team("Docs", ada, grace, visibility="members")
    author, reader = working_in(grace, docs), working_in(ada, docs)
    fill(author, grace, docs, travel, "shared")
    Team.objects.update(visibility="administrators")
    docs.refresh_from_db()
    fill(author, grace, docs, travel, "closed")
    shared, closed = (Conversation.objects.get(title=one) for one in ("shared", "closed"))
    url = f"/files/{shared.owner}/conversations/{shared.pk}/shared.txt"
    Message.objects.filter(conversation=shared, role="user").update(
        attachments=[
            {"title": "Notes", "url": url.removeprefix("/")},
            {"title": "Else", "url": "x"},
        ]
    )

    page = reader.get(f"/teams/conversations/{shared.pk}/").text
    address = f"/teams/conversations/{shared.pk}/files/shared.txt"

    assert f'<a href="{address}">Notes</a>' in page
    assert "<li>Else</li>" in page
    assert text_of(reader.get(address)) == "shared"
    for name in (f"../{closed.pk}/closed.txt", f"..%2F{closed.pk}%2Fclosed.txt", "none.txt"):
        assert reader.get(f"/teams/conversations/{shared.pk}/files/{name}").status_code == 404
    assert reader.get(f"/teams/conversations/{closed.pk}/files/closed.txt").status_code == 404
    assert reader.get(url).status_code == 404
    assert reader.delete(address).status_code == 405
    read = AuditEntry.objects.filter(event="contents.read", conversation=shared.pk)
    reading = (f"user-{ada.pk}-team-{docs.pk}", "travel")
    assert list(read.values_list("actor", "application", "subject").order_by("pk")) == [
        (*reading, ""),
        (*reading, "shared.txt"),
    ]


def test_the_administrators_of_a_team_choose_its_members(ada, grace):
    docs = make_team("Docs", by=ada)
    page, manager = f"/teams/{docs.pk}/", working_in(ada, None)

    def order(client: Client, **fields: Any) -> str:
        answer = client.post(page, fields, follow=True)
        return text_of(answer) if answer.status_code == 200 else str(answer.status_code)

    assert "No account uses this exact username or email address" in order(
        manager, do="add", account="gra"
    )
    assert "grace was added to the team." in order(manager, do="add", account="grace")
    member = working_in(grace, docs)
    for fields in ({"do": "add", "account": "eve"}, {"do": "remove", "member": ada.pk}):
        assert order(member, **fields) == "404"
    assert "needs an administrator" in order(manager, do="leave")
    order(manager, do="promote", member=grace.pk)
    assert "You left Docs." in order(manager, do="leave")
    assert manager.get(page).status_code == 404
    assert order(member, do="remove", member=ada.pk) == "404"
    assert order(member, do="nothing") == "404"
    changes = AuditEntry.objects.filter(event="team.changed").values_list("subject", flat=True)
    assert list(changes) == [
        "Docs: added grace",
        "Docs: grace is now an administrator",
        "Docs: ada left",
    ]


def test_members_and_authors_are_shown_by_name_and_portrait(ada, grace, travel):
    docs = make_team("Docs", by=ada)
    for user in (ada, grace):
        user.groups.add(docs.group)
    User.objects.filter(pk=grace.pk).update(first_name="Grace", last_name="Hopper")
    Picture.objects.create(user=grace, content_type="image/png", content=b"x")
    docs.visibility = "members"
    docs.save()
    Conversation.objects.create(
        application=travel, owner=bucket_of(grace.pk, docs.pk), team=docs, visibility="members"
    )
    client = working_in(ada, docs)

    page = text_of(client.get(f"/teams/{docs.pk}/"))

    assert '<h3 dir="auto">Grace Hopper</h3>' in page
    assert "<bdi>grace</bdi>" in page
    assert f'src="/people/{grace.pk}/picture/' in page
    assert '<h3 dir="auto">ada</h3>' in page
    assert "<bdi>ada</bdi>" not in page
    assert "<bdi>Grace Hopper</bdi>" in text_of(client.get("/teams/conversations/"))


def test_what_was_done_in_a_deleted_team_is_kept_and_reached_by_nobody(ada, travel):
    docs = make_team("Docs", by=ada)
    conversation = begin(ada, docs, travel, "Kept")
    client = working_in(ada, docs)
    docs.group.delete()

    assert client.get(f"/chat/travel/{conversation.pk}/").status_code == 404
    assert client.get("/teams/conversations/").status_code == 404
    assert "Kept" not in text_of(client.get("/chat/travel/"))
    conversation.refresh_from_db()
    assert (conversation.owner, conversation.team) == (
        f"user-{ada.pk}-team-{docs_id(client)}",
        None,
    )


def docs_id(client: Client) -> int:
    return int(client.session["team"])


def test_people_are_told_of_the_budgets_of_the_team_that_they_work_in(ada):
    docs = make_team("Docs", ada)
    fields = {"unit": "tokens", "amount": 1000, "window": "day"}
    Budget.objects.create(subject_kind="team", team=docs, **fields)
    Budget.objects.create(subject_kind="user", **fields)

    inside = text_of(working_in(ada, docs).get("/"))
    outside = text_of(working_in(ada, None).get("/"))

    assert "0% of your team’s daily budget has been used: 1,000 of 1,000 tokens left." in inside
    assert (inside.count("account-budget"), outside.count("account-budget")) == (2, 1)
    assert "your team" not in outside


def test_a_page_of_teams_asks_for_an_account():
    for one in ("/teams/", "/teams/1/", "/teams/conversations/"):
        assert Client().get(one)["Location"].startswith("/accounts/login/")
