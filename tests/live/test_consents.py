"""A user's decision about all calls of a tool, made with the answer to one of them."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from apps.accounts.models import ApiKey
from apps.agent.messages import ModelMessage, ToolCall
from apps.agent.model import Reply
from apps.agent.progress import Allowance
from apps.agent.steps.results import write_reply
from apps.catalog.models import Application
from apps.errors import Refused
from apps.live.consents import ask_each_time, hand_over, read_consents, tools_called
from apps.live.interactions import answer_interaction
from apps.live.journal import journal
from apps.live.journal.log import RunLog
from apps.live.journal.run_record import RunRecord
from apps.live.models import Consent, Interaction, Run, RunStep
from apps.live.step_ledger import StepLedger
from tests.live import records

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

KEY = "t:1:0:call-1"


def application(slug: str = "demo") -> int:
    return Application.objects.get_or_create(slug=slug, defaults={"title": slug})[0].pk


def new_run(slug: str = "demo", **fields: Any) -> Run:
    return records.new_run(application=slug, application_pk=application(slug), **fields)


def asking(**asked: Any) -> Run:
    run = new_run(status="waiting")
    run.save(force_insert=True)
    given = {"name": "pay", "always": ["conversation", "application"], **asked}
    Interaction.objects.create(run=run, key=KEY, kind="approval", asked=given)
    return run


def answered(run: Run, **answer: Any) -> Run:
    answer_interaction(run, KEY, "approval", {"outcome": "approved", **answer}, "user-1")
    return run


def test_what_is_approved_for_a_conversation_holds_in_it_alone():
    run = answered(asking(), always="conversation")

    assert read_consents(run) == {"pay": "always"}
    assert read_consents(new_run()) == {}


def test_what_is_approved_for_an_application_holds_in_it_for_that_person():
    answered(asking(), always="application")

    assert read_consents(new_run()) == {"pay": "always"}
    assert read_consents(new_run(bucket="user-2")) == {}
    assert read_consents(new_run("other")) == {}


def test_the_same_may_be_decided_twice():
    for _ in range(2):
        answered(asking(), always="application")

    assert Consent.objects.count() == 1


def test_what_is_decided_in_the_conversation_goes_before_the_application():
    run = answered(asking(), always="application")
    fields = {"bucket": run.bucket, "application_id": run.application_pk, "tool": "pay"}
    Consent.objects.create(stream=run.stream, mode="confirm", **fields)

    assert read_consents(run) == {"pay": "confirm"}
    assert read_consents(new_run()) == {"pay": "always"}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({}, {}),
        ({"always": ["conversation"]}, {"always": "application"}),
        ({}, {"always": "conversation", "outcome": "denied"}),
        ({"name": "x" * 201}, {"always": "conversation"}),
    ],
)
def test_nothing_is_kept_that_the_card_did_not_offer(asked: Any, answer: Any):
    answered(asking(**asked), **answer)

    assert not Consent.objects.exists()


def test_an_answer_that_is_refused_keeps_nothing():
    run = answered(asking())

    with pytest.raises(Refused):
        answered(run, always="application")

    assert not Consent.objects.exists()


def test_nobody_decides_for_somebody_else_what_is_asked_from_then_on():
    given = {"outcome": "approved", "always": "application"}

    answer_interaction(asking(), KEY, "approval", given, "user-9", "olga")

    assert not Consent.objects.exists()


def test_a_deleted_conversation_and_a_deleted_application_leave_nothing():
    run = answered(asking(), always="conversation")
    answered(asking(), always="application")

    journal.delete(run.stream)
    left = list(Consent.objects.values_list("stream", flat=True))
    Application.objects.get(slug="demo").delete()

    assert (left, Consent.objects.count()) == ([None], 0)


def test_what_was_decided_follows_an_application_that_is_renamed_and_no_other_of_its_slug():
    answered(asking(), always="application")
    Application.objects.update(slug="renamed")

    assert read_consents(new_run("demo")) == {}
    assert read_consents(new_run("renamed")) == {"pay": "always"}


def test_who_wants_to_be_asked_each_time_is_spared_nothing_from_then_on():
    run = answered(asking(), always="conversation")
    answered(asking(name="refund"), always="application")

    ask_each_time("user-1", application(), "pay")
    pay = read_consents(run)
    ask_each_time("user-1", application(), "")

    assert pay == {"pay": "confirm", "refund": "always"}
    assert read_consents(run) == {"pay": "confirm", "": "confirm"}
    assert read_consents(new_run(bucket="user-2")) == {}


async def test_a_run_asks_before_every_tool_about_which_nothing_else_was_decided():
    record = RunRecord(RunLog(uuid4(), uuid4(), 1), lambda: None)
    ledger = StepLedger(record, consents={"": "confirm", "pay": "always"})

    assert [ledger.consent(tool) for tool in ("pay", "refund")] == ["always", "confirm"]
    assert StepLedger(record).consent("pay") is None


def test_the_tools_that_answers_of_a_person_called_are_known():
    run = new_run()
    run.save(force_insert=True)
    message = ModelMessage("assistant", "", tool_calls=(ToolCall("c", "pay", "{}"),))
    done = {"run": run, "kind": "model", "policy": "repeat", "status": "done"}
    result = write_reply(Reply(message, "tool_calls", ()), Allowance())
    RunStep.objects.create(**done, key="m:1", result=result)
    RunStep.objects.create(**done, key="m:2", result={"of": "other code"})

    assert tools_called("user-1") == {run.application_pk: ["pay"]}
    assert tools_called("user-2") == {}


def test_only_what_was_decided_in_conversations_follows_somebody_who_signs_in():
    run = answered(asking(), always="conversation")
    answered(asking(), always="application")

    hand_over("user-1", "user-7")

    assert list(Consent.objects.values_list("bucket", "stream")) == [("user-7", run.stream)]


def test_the_person_of_a_run_cannot_answer_for_a_second_pair_of_eyes():
    run = asking(four_eyes=True)

    with pytest.raises(Refused) as refused:
        answered(run)

    assert refused.value.code == "four_eyes"
    assert not Run.objects.exclude(status="waiting").exists()
    answer_interaction(run, KEY, "approval", {"outcome": "approved"}, "user-9", "olga")
    [(_, _, event)] = journal.read(run.stream, 0)
    assert (event.by, event.answer) == ("olga", {"outcome": "approved"})  # type: ignore[union-attr]


def test_one_person_is_no_second_pair_of_eyes_in_any_team_or_with_any_key():
    anna = User.objects.create_user("anna")
    own, _ = ApiKey.objects.create_key(name="own", user=anna)
    other, _ = ApiKey.objects.create_key(name="installation")
    person = f"user-{anna.pk}"
    table = {
        (f"{person}-team-3", person): False,
        (person, f"{person}-team-3"): False,
        (f"{person}-team-3", f"{person}-team-4"): False,
        (f"key-{own.prefix}", person): False,
        (f"{person}-team-3", f"key-{own.prefix}"): False,
        (f"{person}-team-3", f"{person}0"): True,
        (f"key-{other.prefix}", person): True,
        ("key-gone", person): True,
        ("session-1", person): True,
    }

    may = {}
    for bucket, by in table:
        run = asking(four_eyes=True)
        Run.objects.filter(pk=run.pk).update(bucket=bucket)
        run.refresh_from_db()
        try:
            answer_interaction(run, KEY, "approval", {"outcome": "approved"}, by)
            may[bucket, by] = True
        except Refused as refused:
            may[bucket, by] = refused.code != "four_eyes"

    assert may == table
