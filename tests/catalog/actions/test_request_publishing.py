"""Publishing with a second person's approval."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.accounts.models import AuditEntry
from apps.catalog.actions import (
    discard_draft,
    draft_version,
    publish,
    republish,
    request_publishing,
    restore,
    save,
    save_draft,
    send_back,
)
from apps.catalog.history.actors import Actor, acting
from apps.catalog.models import Application, ApplicationDraft, Change, PublishingRequest
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.drafts import DraftOvertaken, draft_of
from apps.catalog.versions.publishing_requests import (
    SecondPublisherRequired,
    open_request,
    requests_to_grant,
)
from tests.catalog.rows import make_application, make_deployment, make_operator

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


@pytest.fixture
def row() -> Application:
    make_deployment()
    return make_application(needs_second_publisher=True)


@pytest.fixture
def anna() -> User:
    return make_operator("anna")


@pytest.fixture
def ben() -> User:
    return make_operator("ben")


@pytest.fixture
def asked(row: Application, anna: User) -> Application:
    """Let Anna change the draft and request publishing."""
    save_draft.execute(row, {"title": "Tours"}, None, anna)
    request_publishing.execute(row, "Tours", anna)
    return row


def refused(row: Application, user: User | None, **options: Any) -> str:
    with pytest.raises(SecondPublisherRequired) as error:
        publish.execute(row, "Now", user=user, **options)
    return str(error.value.messages[0])


def events() -> list[tuple[str, str, str]]:
    found = AuditEntry.objects.filter(event__startswith="publishing.").order_by("pk")
    return list(found.values_list("event", "actor", "subject"))


def test_what_one_has_changed_another_publishes(row, anna, ben):
    save_draft.execute(row, {"title": "Tours"}, None, anna)

    unasked = refused(row, ben)
    request_publishing.execute(row, "Another title", anna)
    own = refused(row, anna)
    nobody = refused(row, None)
    with acting(Actor(ben, Change.Via.ADMIN)):
        version = publish.execute(row, "Another title", user=ben)

    assert "Request publishing of the current draft first" in unasked
    assert "another user must publish it" in own
    assert nobody == own
    assert (version.title, version.author_name) == ("Tours", "ben")
    assert not PublishingRequest.objects.exists()
    assert events() == [
        ("publishing.requested", f"user-{anna.pk}", ""),
        ("publishing.done", f"user-{ben.pk}", "version 2"),
    ]


def test_nobody_who_changed_the_draft_publishes_it_whoever_was_the_last(row, anna, ben):
    save_draft.execute(row, {"title": "Tours"}, None, anna)
    save_draft.execute(row, {"description": "By bus"}, None, ben)
    request_publishing.execute(row, "Tours", ben)

    assert [refused(row, one) for one in (anna, ben)] == [refused(row, anna)] * 2
    assert publish.execute(row, "Tours", user=make_operator("carl")).number == 2


def test_whoever_only_asked_does_not_publish_either(row, anna, ben):
    save_draft.execute(row, {"title": "Tours"}, None, anna)
    request_publishing.execute(row, "Tours", ben)

    assert "another user must publish it" in refused(row, ben)


def test_a_change_withdraws_the_request_and_the_same_texts_do_not(asked, anna, ben):
    save_draft.execute(asked, {"title": "Tours"}, None, ben)
    kept = open_request(draft_of(asked))
    save_draft.execute(asked, {"title": "Trips"}, None, anna)

    assert kept is not None
    assert open_request(draft_of(asked)) is None
    assert "Request publishing of the current draft first" in refused(asked, ben)


def test_another_icon_or_skill_withdraws_the_request_too(row, anna, ben):
    skills = {
        "tone": {"SKILL.md": "---\nname: tone\ndescription: How we write.\n---\n\nBe kind.\n"}
    }
    for values in ({"icon": "🦊"}, {"skills": skills}):
        save_draft.execute(row, {"title": "Tours"}, None, anna)
        request_publishing.execute(row, "Another title", anna)
        assert open_request(draft_of(row)) is not None

        save_draft.execute(row, values, None, anna)

        assert open_request(draft_of(row)) is None
        assert "Request publishing of the current draft first" in refused(row, ben)


@pytest.mark.parametrize(
    ("skills", "digest"),
    [
        (None, "8934f3a03f110c70b630932374a1bcb8cf6cf5820687d6c2a15650ba71b7d1c9"),
        ({}, "bd1419a9ce478729402c57e6088a49f79244cfe98b1b457d9c9a8a8f46996c79"),
    ],
)
def test_open_requests_stay_open_after_an_upgrade(skills, digest):
    """Stored requests already have these digests."""
    draft = ApplicationDraft(title="Travel", description="Plans", icon="🚌")
    draft.manifest, draft.skills = {"b": 1, "a": 2}, skills

    assert definition_of(draft).digest == digest


def test_a_text_that_changed_behind_the_request_is_not_published(asked, ben):
    ApplicationDraft.objects.update(title="Trips")

    assert "Request publishing of the current draft first" in refused(asked, ben)


def test_a_request_is_sent_back_with_words_which_stay_until_the_next_one(asked, anna, ben):
    with pytest.raises(ValidationError):
        send_back.execute(asked, "  ", ben)
    send_back.execute(asked, "Say where to.", ben)
    refusal = refused(asked, ben)
    with pytest.raises(ValidationError):
        send_back.execute(asked, "Again", ben)
    save_draft.execute(asked, {"title": "Tours to Rome"}, None, anna)
    said = PublishingRequest.objects.get().returned_words
    request_publishing.execute(asked, "Rome", anna)

    assert "Request publishing of the current draft first" in refusal
    assert said == "Say where to."
    assert PublishingRequest.objects.get().returned_words == ""
    assert publish.execute(asked, "Rome", user=ben).title == "Tours to Rome"


def test_a_draft_that_was_saved_meanwhile_is_not_requested(row, anna, ben):
    seen = save_draft.execute(row, {"title": "Tours"}, None, anna).version
    save_draft.execute(row, {"title": "Trips"}, None, ben)

    with pytest.raises(DraftOvertaken):
        request_publishing.execute(row, "Tours", anna, seen=seen)


def test_a_request_ends_with_its_draft(asked):
    discard_draft.execute(asked)

    assert not PublishingRequest.objects.exists()


def test_content_and_earlier_versions_come_back_by_two_people_as_well(asked, anna, ben):
    publish.execute(asked, "Tours", user=ben)

    for act in (
        lambda: republish.execute(asked, "Content", user=ben),
        lambda: restore.execute(asked, 1, "x", user=ben),
    ):
        with pytest.raises(SecondPublisherRequired):
            act()
    request_publishing.execute(asked, "The content of now", anna)
    again = publish.execute(asked, "The content of now", user=ben)
    draft = draft_version.execute(asked, asked.versions.get(number=1), anna)
    request_publishing.execute(asked, "As it was", anna)
    back = publish.execute(asked, "As it was", user=ben)

    assert (again.number, again.title) == (3, "Tours")
    assert (draft.based_on, back.number, back.title) == (3, 4, "Travel")


def test_no_save_goes_around_it(row):
    row.title = "Tours"
    with pytest.raises(SecondPublisherRequired):
        save.execute(row)

    row = Application.objects.get()
    row.is_public = True
    save.execute(row)
    assert (row.title, row.live_number) == ("Travel", 1)


def test_a_setting_makes_it_the_rule_of_all(anna, ben, settings):
    make_deployment()
    row = make_application()
    settings.REQUIRE_SECOND_PUBLISHER = True
    save_draft.execute(row, {"title": "Tours"}, None, anna)

    refusal = refused(row, anna)
    request_publishing.execute(row, "Tours", anna)

    assert "needs a second publisher" in refusal
    assert publish.execute(row, "Tours", user=ben).number == 2


def test_requests_wait_for_those_who_can_answer_them(asked, anna, ben):
    waiting = [
        PublishingRequest.objects.filter(requests_to_grant(one)).count() for one in (anna, ben)
    ]
    send_back.execute(asked, "No", ben)

    assert waiting == [0, 1]
    assert not PublishingRequest.objects.filter(requests_to_grant(ben)).exists()
