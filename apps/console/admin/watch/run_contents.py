"""Checks the permission to read the contents of runs, and records each access in the audit log."""

from uuid import UUID

from django.http import HttpRequest

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of
from apps.accounts.client_address import address_of
from apps.live.models import Run
from apps.live.run_summary import RunSummary
from apps.live.sent_request_rows import READ_CONTENTS


def may_read(request: HttpRequest) -> bool:
    return request.user.has_perm(READ_CONTENTS)


def record_reading(
    request: HttpRequest, run: RunSummary | Run, subject: str, *, is_allowed: bool
) -> None:
    record_contents(request, run.application, run.pk, subject, is_allowed=is_allowed)


def record_contents(
    request: HttpRequest, application: str, run: UUID | None, subject: str, *, is_allowed: bool
) -> None:
    """Record in the audit log that the operator read the contents of a run. If `is_allowed` is
    False, record that the access was denied.

    `subject` describes the contents, such as "model requests".
    """
    audit.record(
        AuditEvent(
            "contents.read" if is_allowed else "access.denied",
            bucket_of(request.user.pk),
            address_of(request),
            application,
            run=run,
            subject=subject,
        )
    )
