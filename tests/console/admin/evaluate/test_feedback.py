"""The inbox of feedback is filtered and edited, and shows more only if its author allows it."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.accounts.audit_entry import AuditEntry
from apps.accounts.caller import bucket_of
from apps.cases.models import Case
from apps.catalog.models import Application
from apps.console.admin.cells import NOTHING
from apps.conversations.models import Conversation, Message
from apps.feedback.models import Feedback
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from tests.catalog.rows import make_application
from tests.console.pages import browser_of, staff_account

pytestmark = pytest.mark.django_db
LIST = reverse("admin:feedback_feedback_changelist")
SAID: dict[str, Any] = {
    "question": {"text": "Which day is it?", "files": ["plan.pdf"], "at": "2026-03-01T09:00:00"},
    "answer": {"text": "<b>Monday</b>", "files": [], "at": "2026-03-01T09:00:01"},
}


def add_feedback(application: Application, **fields: Any) -> Feedback:
    given = {"rating": "down", "reason": "wrong", "comment": "No.", "bucket": "user-1", **fields}
    return Feedback.objects.create(message=uuid4(), application=application, **given)


def page(row: Feedback, name: str = "change") -> str:
    return reverse(f"admin:feedback_feedback_{name}", args=[row.pk])


def editor_of(application: Application, *permissions: str) -> Client:
    application.owner = staff_account("grace", *permissions)
    application.save()
    return browser_of(application.owner)


def test_operators_filter_feedback_and_say_what_became_of_it(client, operator):
    travel, other = make_application(), make_application("other")
    row = add_feedback(travel, application_version=3, comment="It was Tuesday.")
    add_feedback(other, rating="up", reason="")
    query = "application=travel&application_version=3&rating__exact=down&reason__exact=wrong"

    listed = client.get(f"{LIST}?{query}&state__exact=new")
    form = {"state": "done", "note": "Fixed in version 4.", "rating": "up", "comment": "Great!"}
    client.post(page(row), form)

    assert [one.pk for one in listed.context["cl"].result_list] == [row.pk]
    assert "It was Tuesday." in listed.text
    row.refresh_from_db()
    assert (row.state, row.note) == ("done", "Fixed in version 4.")
    assert (row.rating, row.comment) == ("down", "It was Tuesday.")


def test_what_was_sent_along_is_read_and_recorded_and_nothing_else_is(client, operator):
    application = make_application()
    run = RunSummary.objects.create(door="page", application="travel", bucket="user-1")
    shared = add_feedback(application, transcript=SAID, shares_transcript=True, run=run.pk)
    kept = add_feedback(application, bucket="user-2")

    read = client.get(page(shared, "transcript"))
    refused = client.get(page(kept, "transcript"))
    links = client.get(page(shared)).text

    text = read.text
    assert "Which day is it?" in text
    assert "plan.pdf" in text
    assert "&lt;b&gt;Monday&lt;/b&gt;" in text
    assert refused.status_code == 403
    entries = AuditEntry.objects.order_by("pk").values_list("event", "subject", "run")
    assert list(entries) == [
        ("contents.read", f"feedback {shared.pk}", run.pk),
        ("access.denied", f"feedback {kept.pk}", None),
        ("contents.read", f"question of feedback {shared.pk}", run.pk),
    ]
    assert reverse("admin:runs_runsummary_change", args=[run.pk]) in links
    assert "Monday" not in links
    assert page(kept, "transcript") not in client.get(page(kept)).text


def test_the_list_and_the_form_show_the_questions_that_the_operator_may_read(client, operator):
    application = make_application(title="Support desk")
    author = User.objects.create_user("mara", first_name="Mara", last_name="Lindqvist")
    attached = add_feedback(application, transcript=SAID, bucket=bucket_of(author.pk))
    conversation = Conversation.objects.create(owner="user-1", application=application)
    ids = {"stream": uuid4(), "request": uuid4()}
    run = Run.objects.create(application="travel", bucket="user-1", status="done", **ids)
    Message.objects.create(conversation=conversation, run=run, role="user", text="Any parcels?")
    add_feedback(application, run=run.pk)
    add_feedback(application)

    listed = client.get(LIST).text
    form = client.get(page(attached))
    reader = editor_of(application, "view_feedback").get(LIST).text

    shown = "Which day is it? Conversation attached"
    assert questions(listed) == sorted([NOTHING, "Any parcels?", shown])
    assert questions(reader) == sorted([NOTHING, NOTHING, shown])
    assert form.context["subtitle"] == "Feedback of Mara Lindqvist on Support desk"
    assert "Which day is it?" in form.text
    assert [*AuditEntry.objects.order_by("pk").values_list("subject", flat=True)] == [
        "questions in the list of feedback: 2",
        f"question of feedback {attached.pk}",
        "questions in the list of feedback: 1",
    ]


def questions(listed: str) -> list[str]:
    cells = re.findall(r"field-question_shown[^>]*>(.*?)</td>", listed, re.DOTALL)
    return sorted(" ".join(re.sub("<[^>]*>", " ", cell).split()) for cell in cells)


def test_a_case_is_made_of_what_was_sent_along(client, operator):
    application = make_application()
    row = add_feedback(application, transcript=SAID, shares_transcript=True, run=uuid4())
    kept = add_feedback(application, bucket="user-2")
    address = f"{reverse('admin:cases_case_add')}?feedback={row.pk}"

    form = client.get(address)
    initial = form.context["adminform"].form.initial
    saved = client.post(
        address,
        {
            "name": initial["name"],
            "application": application.pk,
            "messages": '[{"role": "user", "text": "Which day is it?"}]',
            "expectations": "[]",
        },
    )
    refused = client.get(f"{reverse('admin:cases_case_add')}?feedback={kept.pk}")

    assert initial["messages"] == [{"role": "user", "text": "Which day is it?"}]
    assert saved.status_code == 302
    case = Case.objects.get()
    assert (case.source_run, case.is_from_real_run) == (row.run, True)
    assert refused.status_code == 403


def test_an_operator_sees_feedback_of_the_applications_that_they_edit():
    mine, foreign = make_application(), make_application("other")
    row, hidden = add_feedback(mine), add_feedback(foreign, transcript=SAID)
    client = editor_of(mine, "view_feedback")

    listed = client.get(LIST).context["cl"].result_list
    statuses = [client.get(page(hidden, name)).status_code for name in ("change", "transcript")]
    changed = client.post(page(row), {"state": "done", "note": ""})

    assert [one.pk for one in listed] == [row.pk]
    assert statuses == [302, 404]
    assert changed.status_code == 403
