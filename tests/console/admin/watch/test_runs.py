from __future__ import annotations

import re
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from apps.accounts.audit_entry import AuditEntry
from apps.agent.messages import Attachment, ModelMessage, ToolCall
from apps.agent.model import Reply
from apps.agent.progress import Allowance
from apps.agent.steps.results import RecordedOpening, write_record, write_reply
from apps.catalog.models import Application
from apps.console.admin.cells import NOTHING
from apps.console.admin.watch.error_kinds import FIXES
from apps.console.admin.watch.run_links import IS_RUNNING, NOT_STORED
from apps.console.studio.page import NOTHING_TO_REPLAY
from apps.conversations.models import Conversation, Message
from apps.live.models import HelperRun, Run, RunStep
from apps.live.run_summary import RunSummary
from apps.workspace.local.deployments.deployment import Deployment
from tests.catalog.rows import make_application, make_operator
from tests.console.pages import staff_account
from tests.insights.calls import model_call, store, tool_use

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]

PAGE = "/admin/runs/runsummary/"


@pytest.fixture
def runs() -> list[RunSummary]:
    make_application("travel")
    rows = [
        RunSummary(door="gateway", application="travel", bucket="key-1", status="done"),
        RunSummary(door="page", application="travel", bucket="user-1", status="stopped"),
        RunSummary(
            door="core",
            application="applications/b/kept",
            bucket="b",
            status="failed",
            error_reference="1a2b3c4d",
        ),
    ]
    return RunSummary.objects.bulk_create(rows)


@pytest.mark.parametrize(
    ("query", "doors"),
    [
        ("", {"gateway", "page", "core"}),
        ("?door=core", {"core"}),
        ("?status=stopped", {"page"}),
        ("?application=travel", {"gateway", "page"}),
        ("?q=1a2b3c4d", {"core"}),
        ("?q=user-1", {"page"}),
        ("?q=use", set()),
    ],
)
def test_runs_are_filtered_and_found(client, runs, query, doors):
    client.force_login(make_operator())

    answer = client.get(PAGE + query)

    assert {row.door for row in answer.context["cl"].result_list} == doors


def test_runs_are_only_read(client, runs):
    client.force_login(make_operator())

    statuses = [
        client.get(f"{PAGE}add/").status_code,
        client.get(f"{PAGE}{runs[0].pk}/change/").status_code,
        client.post(f"{PAGE}{runs[0].pk}/change/", {"status": "failed"}).status_code,
        client.post(f"{PAGE}{runs[0].pk}/delete/", {"post": "yes"}).status_code,
    ]

    assert statuses == [403, 200, 403, 403]
    assert RunSummary.objects.count() == 3


def test_staff_without_the_permission_do_not_see_them(client, runs):
    client.force_login(staff_account("reader"))

    assert client.get(PAGE).status_code == 403


def test_the_page_of_a_run_lists_its_subagents_without_their_names(client, runs):
    run = Run.objects.create(
        pk=runs[1].pk, stream=uuid4(), request=uuid4(), application="travel", bucket="user-1"
    )
    HelperRun.objects.create(
        run=run, key="t:1:0:a", name="Secret plan", agent="Scout", status="done", model_calls=2
    )
    client.force_login(make_operator())

    page = client.get(f"{PAGE}{run.pk}/change/").text
    other = client.get(f"{PAGE}{runs[0].pk}/change/").text

    assert "Scout: done, 2 model calls, 0 tool calls, 0 + 0 tokens" in page
    assert "Secret plan" not in page
    assert "model calls, " not in other


def going(**fields: Any) -> Run:
    ids = {"stream": uuid4(), "request": uuid4()}
    return Run.objects.create(**{**ids, "application": "travel", "bucket": "user-1", **fields})


def test_runs_are_found_by_what_they_called_and_who_asked(client, runs, operator):
    gateway, page, core = runs
    RunSummary.objects.filter(pk=page.pk).update(bucket=f"user-{operator.pk}-team-7")
    store(
        model_call(run=gateway.pk, application="travel", version=3, error="status 429"),
        tool_use(run=core.pk, tool="search", has_failed=True),
    )

    def doors(**query: Any) -> set[str]:
        return {row.door for row in client.get(PAGE, query).context["cl"].result_list}

    assert doors(tool="search") == {"core"}
    assert doors(error="status 429") == {"gateway"}
    assert doors(error="tool failed") == {"core"}
    assert doors(application="travel", version="3") == {"gateway"}
    assert doors(application="travel", version="4") == set()
    assert doors(user=operator.username) == doors(q=operator.username) == {"page"}
    assert doors(q=str(core.pk)) == {"core"}
    assert doors(since="2199-01-01") == set()
    assert client.get(PAGE, {"version": "x"}).status_code == 302


def test_runs_that_go_on_come_first_and_have_a_page_on_which_they_are_stopped(
    client, runs, operator
):
    run = going(status="waiting")

    listed = client.get(PAGE).context["cl"]
    shown = client.get(f"{PAGE}{run.pk}/change/")
    stopped = client.post(f"{PAGE}{run.pk}/stop/", follow=True)

    assert (listed.result_list[0].pk, listed.result_count) == (run.pk, 4)
    assert (shown.status_code, shown.context["stop_url"]) == (200, f"{PAGE}{run.pk}/stop/")
    assert "The run is stopping." in stopped.text
    run.refresh_from_db()
    assert run.is_stop_requested


def step(run: Run, key: str, kind: str, result: Any) -> None:
    RunStep.objects.create(run=run, key=key, kind=kind, status="done", result=result)


def beginning(page: str) -> str:
    """Return the text of the page before its fields."""
    start = page.index("runs-beginning")
    found = page[start : page.index("flex flex-col gap-6", start)]
    return " ".join(re.sub("<[^>]*>", " ", found).split())


def test_the_page_of_a_failed_run_begins_with_question_answer_and_the_failing_step(
    client, runs, operator
):
    summary = runs[1]
    RunSummary.objects.filter(pk=summary.pk).update(status="failed")
    run = going(pk=summary.pk, status="failed")
    said = ModelMessage(
        "user", "What is <tea>?", attachments=(Attachment("text/plain", "leaf.txt"),)
    )
    earlier = (ModelMessage("user", "Hi"), ModelMessage("assistant", "Hello"))
    step(run, "open", "open", write_record(RecordedOpening((*earlier, said), {})))
    answer = Reply(ModelMessage("assistant", "It is a plant."), "stop", ())
    step(run, "m:1", "model", write_reply(answer, Allowance()))
    store(
        tool_use(run=run.pk, has_failed=True),
        model_call(run=run.pk, error="status 400", said="temperature is too high", seconds=9.0),
    )

    shown = beginning(client.get(f"{PAGE}{run.pk}/change/").text)

    assert "Question What is &lt;tea&gt;? Files: leaf.txt" in shown
    assert "Answer It is a plant." in shown
    step_words = "Model gpt : The service rejected the request (status 400) · Timeline"
    assert f"Failing step {step_words} temperature is too high" in shown
    read = AuditEntry.objects.values_list("event", "subject", "run")
    assert list(read) == [("contents.read", "question and answer", run.pk)]


def test_a_long_request_id_is_shortened_and_can_be_copied(client, runs, operator):
    id = "bce14891-7b7d-4110-8233-325b6c094378"
    RunSummary.objects.filter(pk=runs[1].pk).update(request_id=id)

    page = client.get(f"{PAGE}{runs[1].pk}/change/").text

    assert f'<code title="{id}">bce14891-7b7…325b6c094378</code>' in page
    assert 'data-copies="request-id"' in page
    assert f'<code id="request-id" hidden>{id}</code>' in page
    assert "The ID in the log and in the response header X-Request-ID." in page


def test_the_page_of_a_test_message_names_the_draft_and_says_that_nothing_is_stored(
    client, runs, operator
):
    run = runs[1]
    RunSummary.objects.filter(pk=run.pk).update(door="studio", status="done")
    store(model_call(run=run.pk, application=run.application, version=0, door="studio"))

    page = client.get(f"{PAGE}{run.pk}/change/").text

    assert "Answer Not stored. The studio does not store answers." in beginning(page)
    assert "stored as long as" not in page
    text = " ".join(re.sub("<[^>]*>", " ", page).split())
    assert "Source Studio" in text
    assert "Versions Draft" in text


def test_a_reader_without_the_permission_sees_the_failing_step_alone(client, runs):
    run = going(pk=runs[1].pk, status="failed")
    RunSummary.objects.filter(pk=run.pk).update(status="failed", error_reference="1a2b3c4d")
    step(
        run,
        "open",
        "open",
        write_record(RecordedOpening((ModelMessage("user", "What is tea?"),), {})),
    )
    reader = staff_account("reader", "view_runsummary", "see_all_applications")
    client.force_login(reader)

    page = client.get(f"{PAGE}{run.pk}/change/").text

    assert "What is tea?" not in page
    assert "No model call or tool call failed. The log has the reason under" in beginning(page)
    assert not AuditEntry.objects.exists()


def test_calls_of_tools_are_no_answer_and_a_run_that_did_not_fail_has_no_failing_step(
    client, runs, operator
):
    run = going(pk=runs[1].pk, status="stopped")
    called = ModelMessage("assistant", "Let me see", tool_calls=(ToolCall("1", "search", "{}"),))
    step(run, "m:1", "model", write_reply(Reply(called, "tool_calls", ()), Allowance()))
    store(model_call(run=run.pk, error="status 400"))

    shown = beginning(client.get(f"{PAGE}{run.pk}/change/").text)

    assert "No complete answer." in shown
    assert "Failing step" not in shown


def test_a_run_that_answered_shows_the_tool_call_that_failed(client, runs, operator):
    store(tool_use(run=runs[0].pk, tool="search", has_failed=True))

    shown = beginning(client.get(f"{PAGE}{runs[0].pk}/change/").text)

    assert runs[0].status == "done"
    assert "Failing step Tool Search" in shown


def test_the_page_of_a_run_leaves_out_what_has_no_value(client, runs, operator):
    RunSummary.objects.filter(pk=runs[0].pk).update(error_reference="", seconds=None)
    RunSummary.objects.filter(pk=runs[1].pk).update(error_reference="1a2b3c4d", seconds=2.0)
    store(model_call(run=runs[1].pk, version=3, cost=Decimal("0.5"), currency="USD"))

    optional = {"error_reference", "took", "versions", "cost"}
    pages = [client.get(f"{PAGE}{run.pk}/change/").context["adminform"] for run in runs[:2]]

    shown = [{*page.fieldsets[0][1]["fields"]} & optional for page in pages]
    assert shown == [set(), optional]


def test_a_run_of_an_application_of_others_is_neither_shown_nor_stopped(client, runs):
    run = going()
    client.force_login(staff_account("reader", "view_run", "view_runsummary", "change_run"))

    assert client.get(PAGE).context["cl"].result_count == 0
    assert client.get(f"{PAGE}{run.pk}/change/").status_code == 302
    client.post(f"{PAGE}{run.pk}/stop/")
    run.refresh_from_db()
    assert not run.is_stop_requested


def test_the_list_takes_fifteen_queries_at_most(client, operator, django_assert_max_num_queries):
    rows = (
        RunSummary(door="page", application="travel", bucket=f"user-{place}", status="failed")
        for place in range(120)
    )
    RunSummary.objects.bulk_create(rows)
    going()
    client.get(PAGE)

    with django_assert_max_num_queries(15):
        client.get(f"{PAGE}?application=travel&status=failed&tool=search&p=1")
    with django_assert_max_num_queries(15):
        assert len(client.get(f"{PAGE}?p=2").context["cl"].result_list) == 50


def test_the_page_of_a_run_takes_twenty_four_queries_at_most(
    client, runs, operator, django_assert_max_num_queries
):
    client.get(f"{PAGE}{runs[0].pk}/change/")

    with django_assert_max_num_queries(24):
        client.get(f"{PAGE}{runs[0].pk}/change/")


def test_a_run_is_replayed_and_made_a_test_case_only_if_its_messages_are_stored(
    client, runs, operator
):
    stored, unstored = runs[0], runs[1]
    active = going(status="running")
    for pk in (stored.pk, active.pk):
        run = Run.objects.filter(pk=pk).first() or going(pk=pk, status="done")
        said = RecordedOpening((ModelMessage("user", "What is tea?"),), {})
        step(run, "open", "open", write_record(said))

    pages = [
        client.get(f"{PAGE}{pk}/change/").context for pk in (stored.pk, unstored.pk, active.pk)
    ]

    both = ["Open in studio", "Replay on the draft", "Create a test case"]
    links = [[link.text for link in page["links"]] for page in pages]
    assert links == [both, both[:1], both[:1]]
    assert [page["why_no_replay"] for page in pages] == ["", NOT_STORED, IS_RUNNING]


def test_the_studio_says_why_it_replays_nothing(client, runs, operator):
    application = Application.objects.get(slug="travel")

    page = client.get(f"/admin/catalog/application/{application.pk}/studio/?replay={runs[1].pk}")

    assert [str(one) for one in page.context["messages"]] == [NOTHING_TO_REPLAY]


def test_the_failing_step_and_the_number_of_calls_include_the_attempts(client, runs, operator):
    failed = runs[2]
    RunSummary.objects.filter(pk=failed.pk).update(model_calls=1)
    about = {"run": failed.pk, "application": failed.application, "error": "connection"}
    store(*(model_call(**about) for _ in range(4)))
    store(model_call(run=failed.pk, application=failed.application, purpose="title"))
    Deployment.objects.create(deployment_id="gpt", display_name="GPT-4.1 mini", base_url="http://m")

    page = client.get(f"{PAGE}{failed.pk}/change/")

    shown = beginning(page.text)
    assert "Model GPT-4.1 mini : Could not reach the service (4 attempts) · Timeline" in shown
    assert FIXES["connection"] in shown
    assert "The log has the details under reference=1a2b3c4d" in shown
    assert "1 call (4 attempts)" in page.text
    names = {row.span.name for row in page.context["waterfall"].rows}
    assert names == {"GPT-4.1 mini"}


def ask(run: RunSummary, text: str, **fields: Any) -> None:
    """Store the question of a run in a conversation."""
    application = Application.objects.get(slug="travel")
    conversation = Conversation.objects.create(owner="user-1", application=application, **fields)
    row = going(pk=run.pk, status="done")
    Message.objects.create(conversation=conversation, run=row, role="user", text=text)


def test_the_list_shows_questions_to_operators_who_may_read_contents(client, runs):
    ask(runs[0], "What is\n  <tea>?")
    ask(runs[1], "What is coffee?", deleted_at=timezone.now())
    RunSummary.objects.filter(pk=runs[0].pk).update(model_calls=1, prompt_tokens=20)

    client.force_login(staff_account("reader", "view_runsummary", "see_all_applications"))
    before = client.get(PAGE).text
    silent = not AuditEntry.objects.exists()
    client.force_login(make_operator())
    listed = client.get(PAGE)

    rows = {row.pk: row.question for row in listed.context["cl"].result_list}
    assert rows == {runs[0].pk: "What is <tea>?", runs[1].pk: "", runs[2].pk: ""}
    assert "What is &lt;tea&gt;?" in listed.text
    assert "tea" not in before
    assert silent
    entries = AuditEntry.objects.values_list("event", "subject")
    assert list(entries) == [("contents.read", "questions in the list of runs: 1")]
    cells = re.findall(r"field-work[^>]*>(.*?)</td>", listed.text, re.DOTALL)
    shown = [" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in cells]
    assert sorted(shown) == ["20 + 0 1 model call", NOTHING, NOTHING]
