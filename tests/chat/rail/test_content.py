"""The list of all conversations of a user: pages, groups, and changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.caller import Caller
from apps.catalog.icons.values import colour_of
from apps.chat.models import PinnedApplication
from apps.chat.rail.content import MOST_CHANGED, PAGE, RailUpdates
from apps.conversations.keeping.arrangement import UNDO, erase_deleted
from apps.conversations.models import Conversation, Folder, Message
from apps.live.models import Run
from tests.chat.pages.test_views import add_application, add_conversation, run_in, visiting

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)


def add_many(client: Client, count: int) -> list[str]:
    """Create that many conversations, some with the same time. Return their titles, newest first."""
    owner = add_conversation(add_application(), client, "gone").owner
    Conversation.objects.all().delete()
    applications = [add_application(title=title) for title in ("Travel", "Weather")]
    rows = [
        Conversation(
            application=applications[number % 2],
            owner=owner,
            title=str(number),
            updated_at=NOON - timedelta(hours=number // 3),
        )
        for number in range(count)
    ]
    Conversation.objects.bulk_create(rows)
    return [one.title for one in sorted(rows, key=lambda one: (one.updated_at, one.pk))[::-1]]


def get(client: Client, **query: Any) -> dict[str, Any]:
    told: dict[str, Any] = client.get("/conversations/", query).json()
    return told


def titles(rows: list[dict[str, Any]]) -> list[str]:
    return [row["title"] for row in rows]


def post(client: Client, conversation: Conversation, action: str, **fields: Any) -> Any:
    return client.post(f"/chat/{conversation.application_slug}/{conversation.pk}/{action}/", fields)


def caller_of(conversation: Conversation) -> Caller:
    return Caller(conversation.owner)


def test_all_pages_together_have_each_conversation_once_in_its_order():
    client = visiting()
    wanted = add_many(client, 2 * PAGE + 20)

    pages = [get(client)]
    while pages[-1]["next"]:
        pages.append(get(client, after=pages[-1]["next"]))

    assert [len(page["conversations"]) for page in pages] == [PAGE, PAGE, 20]
    assert titles([row for page in pages for row in page["conversations"]]) == wanted


def test_a_row_says_where_it_is_and_of_which_application():
    client = visiting()
    conversation = add_conversation(add_application(title="Big travel"), client, "Oslo")

    [row] = get(client)["conversations"]

    colour = colour_of(row["address"].split("/")[2])
    assert row == {
        "id": str(conversation.pk),
        "title": "Oslo",
        "updated_at": conversation.updated_at.isoformat(),
        "state": "done",
        "address": f"/chat/{conversation.application_slug}/{conversation.pk}/",
        "application": {
            "title": "Big travel",
            "ended": False,
            "letters": "Bt",
            "tile": colour,
            "emoji": "",
            "icon": "",
        },
        "folder": None,
        "pinned": False,
        "archived": False,
        "tags": [],
    }


def test_what_is_pinned_archived_or_in_a_folder_is_in_its_own_part():
    client = visiting()
    application = add_application()
    plain, pinned, archived, foldered = (
        add_conversation(application, client, title) for title in ("plain", "pin", "old", "in")
    )

    folder = client.post("/conversations/folders/", {"name": " My  work "}).json()["folder"]
    post(client, pinned, "arrange", pinned="true")
    post(client, archived, "arrange", archived="true")
    post(client, foldered, "arrange", folder=str(folder))

    first = get(client)
    assert titles(first["conversations"]) == ["pin", "plain"]
    assert first["folders"] == [{"id": folder, "name": "My work", "collapsed": False}]
    assert titles(get(client, part="archived")["conversations"]) == ["old"]
    assert titles(get(client, folder=folder)["conversations"]) == ["in"]
    assert plain.title == "plain"

    client.post(f"/conversations/folders/{folder}/delete/")

    assert titles(get(client)["conversations"]) == ["pin", "in", "plain"]


def test_folders_are_renamed_collapsed_and_put_in_order():
    client = visiting()
    one, two, three = (
        client.post("/conversations/folders/", {"name": name}).json()["folder"]
        for name in ("One", "Two", "Three")
    )

    client.post(f"/conversations/folders/{three}/", {"before": one})
    client.post(f"/conversations/folders/{one}/", {"before": "", "collapsed": "true"})
    told = client.post(f"/conversations/folders/{two}/", {"name": "Zwei"}).json()

    assert told["folders"] == [
        {"id": three, "name": "Three", "collapsed": False},
        {"id": two, "name": "Zwei", "collapsed": False},
        {"id": one, "name": "One", "collapsed": True},
    ]


def test_folders_and_conversations_of_others_are_out_of_reach():
    owner, stranger = visiting(), visiting()
    conversation = add_conversation(add_application(), owner)
    folder = owner.post("/conversations/folders/", {"name": "Mine"}).json()["folder"]
    mine = add_conversation(add_application(), stranger)

    answers = [
        stranger.post(f"/conversations/folders/{folder}/", {"name": "x"}),
        stranger.post(f"/conversations/folders/{folder}/delete/"),
        stranger.get("/conversations/", {"folder": folder}),
        post(stranger, mine, "arrange", folder=str(folder)),
        post(stranger, conversation, "arrange", pinned="true"),
        post(stranger, conversation, "restore"),
    ]

    assert [answer.status_code for answer in answers] == [400, 400, 400, 400, 404, 404]
    assert titles(get(stranger)["conversations"]) == ["Hi"]
    assert Folder.objects.get().name == "Mine"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "yesterday"}, "after"),
        ({"after": f"2026-05-32T12:00:00 {uuid4()}"}, "after"),
        ({"part": "all"}, "part"),
    ],
)
def test_a_query_that_makes_no_sense_names_its_field(query, field):
    answer = visiting().get("/conversations/", query)

    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith(f"{field}: ")


def test_what_is_deleted_is_gone_everywhere_until_it_is_restored():
    client = visiting()
    conversation = add_conversation(add_application(), client, "Oslo")
    Message.objects.create(conversation=conversation, role="user", text="Which fjord?")
    address = f"/chat/{conversation.application_slug}/{conversation.pk}/"

    def seen() -> list[Any]:
        return [
            titles(get(client)["conversations"]),
            titles(client.get("/conversations/search/", {"q": "fjord"}).json()["hits"]),
            client.get(address).status_code,
            client.get(f"{address}download/").status_code,
            client.get(f"{address}page/").status_code,
        ]

    before = seen()
    post(client, conversation, "delete")
    deleted = seen()
    erased = erase_deleted()
    restored = post(client, conversation, "restore")

    assert before == [["Oslo"], ["Oslo"], 200, 200, 200]
    assert deleted == [[], [], 302, 302, 404]
    assert (erased, restored.status_code, seen()) == (0, 200, before)

    post(client, conversation, "delete")
    Conversation.objects.update(deleted_at=timezone.now() - UNDO)

    assert (erase_deleted(), post(client, conversation, "restore").status_code) == (1, 404)


def test_a_page_is_told_of_changes_alone():
    client = visiting()
    application = add_application()
    old, other = (add_conversation(application, client, title) for title in ("Old", "Other"))
    Conversation.objects.update(updated_at=NOON)
    caller, news = caller_of(old), RailUpdates()

    assert news.read(caller) is None

    post(client, old, "rename", title="Renamed")
    told = news.read(caller)
    assert told is not None
    assert (titles(told["conversations"]), told["deleted"]) == (["Renamed"], [])
    assert news.read(caller) is None

    post(client, other, "delete")
    told = news.read(caller)
    assert told is not None
    assert (told["conversations"], told["deleted"]) == ([], [str(other.pk)])


def test_states_that_leave_no_time_behind_are_news_too():
    client = visiting()
    conversation = add_conversation(add_application(), client)
    Conversation.objects.update(updated_at=NOON)
    caller, news = caller_of(conversation), RailUpdates()

    def states() -> list[str]:
        told = news.read(caller)
        return [] if told is None else [row["state"] for row in told["conversations"]]

    run = run_in(conversation, "running")
    begun = states()
    run.status = Run.Status.DONE
    run.save()
    ended = states()
    Conversation.objects.update(is_unread=True)
    unread = states()
    Conversation.objects.update(is_unread=False)

    assert (begun, ended, unread, states()) == (["running"], ["done"], ["unread"], ["done"])


def test_after_too_many_changes_the_list_is_to_be_fetched_anew():
    client = visiting()
    add_many(client, MOST_CHANGED + 1)
    owner = Conversation.objects.all()[0].owner
    Conversation.objects.update(updated_at=timezone.now())

    told = RailUpdates().read(Caller(owner))

    assert told is not None
    assert (len(told["conversations"]), told["is_whole"]) == (MOST_CHANGED, False)


def test_a_question_takes_its_conversation_out_of_the_archive_and_a_hit_names_its_message():
    client = visiting()
    conversation = add_conversation(add_application(), client, "Sea")
    run = run_in(conversation)
    asked = Message.objects.create(conversation=conversation, role="user", text="Any fjords?")
    told = Message.objects.create(
        conversation=conversation, role="assistant", text="Many.", run=run
    )

    def hit(query: str) -> list[Any]:
        hits = client.get("/conversations/search/", {"q": query}).json()["hits"]
        return [(one["excerpt"], one["message"]) for one in hits]

    assert hit("fjords") == [("Any fjords?", str(asked.uuid))]
    assert hit("many") == [("Many.", str(told.uuid))]
    assert hit("sea") == [("", "")]
    assert hit("nothing") == []


def test_an_application_is_kept_at_hand_on_the_first_page_and_in_the_rail():
    client = visiting()
    one, two = add_application(title="One"), add_application(title="Two")

    client.post(f"/chat/{two.slug}/pin/", {"pinned": "true"})
    client.post(f"/chat/{two.slug}/pin/", {"pinned": "true"})

    page, chat = client.get("/"), client.get(f"/chat/{one.slug}/")
    assert (page.context["pinned"], page.context["others"]) == ([two], [one])
    assert chat.context["rail_applications"]() == [two]
    assert 'href="/#apps"' in chat.text
    assert 'id="apps" tabindex="-1"' in page.text

    client.post(f"/chat/{two.slug}/pin/", {"pinned": "false"})

    assert not PinnedApplication.objects.exists()


def test_a_page_that_is_open_gets_what_another_conversation_needs():
    client = visiting()
    application = add_application(title="Big travel", description="Trains")
    conversation = add_conversation(application, client)

    told = client.get(f"/chat/{application.slug}/{conversation.pk}/page/").json()

    assert told["attributes"] | {"tile": ""} == {
        "title": "Big travel",
        "runs-code": "",
        "studio": "",
        "description": "Trains",
        "letters": "Bt",
        "tile": "",
        "emoji": "",
        "icon": "",
        "feedback": "yes",
        "address": f"/chat/{application.slug}/",
        "application": application.slug,
        "ended": "",
        "conversation": str(conversation.pk),
        "requests": "yes",
        "place": "",
        "narrative": "",
        "draft": "",
        "notes": "",
        "socket": f"/ws/chat/{application.slug}/",
        "text-limit": "100000",
        "read-only": "",
        "upload-limit": told["attributes"]["upload-limit"],
        "upload-types": told["attributes"]["upload-types"],
        "upload-names": "",
        "upload-most": "20",
    }
    assert (told["memory"], told["place"]) == (None, None)
