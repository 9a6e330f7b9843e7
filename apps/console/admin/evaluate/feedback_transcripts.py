"""Shows the transcripts that users attach to their feedback, and creates test cases from them. The
audit log records each access.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from apps.cases.case_messages import LONGEST_TURN
from apps.cases.from_runs import free_case_name
from apps.cases.models import Case
from apps.console.admin.watch.run_contents import record_contents
from apps.console.admin.watch.run_questions import first_words, read_questions
from apps.console.operator_rights import may_rule, of_seen
from apps.feedback.models import Feedback
from apps.integers import read_integer


def shared_feedback(request: HttpRequest, number: str) -> Feedback:
    """Return feedback with a transcript, and record the access in the audit log.

    Raises `PermissionDenied` if it has no transcript or the operator may not read it, and `Http404`
    if there is no such feedback.
    """
    rows = Feedback.objects.filter(of_seen(request, "application__slug"))
    rows = rows.select_related("application")
    found = rows.filter(pk=read_integer(number) or 0).first()
    if found is None:
        raise Http404
    is_allowed = found.transcript is not None and request.user.has_perm("feedback.view_feedback")
    subject = f"feedback {found.pk}"
    record_contents(request, found.application.slug, found.run, subject, is_allowed=is_allowed)
    if not is_allowed:
        raise PermissionDenied
    return found


def add_questions(request: HttpRequest, rows: Iterable[Any]) -> list[str]:
    """Store the first words of the question that each row is about in `asked`, and return them.

    A question is "" if the user neither attached it nor is it stored in a conversation that the
    operator may read. The caller must record the access in the audit log.
    """
    found = list(rows)
    stored = read_questions(request, (row.run for row in found if row.transcript is None))
    for row in found:
        attached = (row.transcript or {}).get("question", {}).get("text", "")
        row.asked = first_words(attached) or stored.get(row.run, "")
    return [row.asked for row in found]


def case_from_feedback(request: HttpRequest, row: Feedback) -> Case:
    """Return an unsaved test case with the question in the attached transcript. Raises
    `PermissionDenied` if the user may not edit the application.
    """
    if not may_rule(request, row.application):
        raise PermissionDenied
    question = (row.transcript or {}).get("question", {}).get("text", "")
    messages.info(
        request,
        "Nothing is saved yet. Remove private content, add expectations, and save.",
    )
    return Case(
        application=row.application,
        name=free_case_name(row.application, question),
        messages=[{"role": "user", "text": question[:LONGEST_TURN]}],
    )
