"""Who reads what was said in runs, and that the audit has it."""

from uuid import UUID

from django.http import HttpRequest

from apps.accounts import audit
from apps.accounts.addresses import address_of
from apps.accounts.audit import AuditEvent
from apps.accounts.buckets import bucket_of
from apps.live.models import Run
from apps.live.run_summary import RunSummary


def may_read(request: HttpRequest) -> bool:
    return request.user.has_perm("runs.read_run_contents")


def record_reading(
    request: HttpRequest, run: RunSummary | Run, subject: str, *, is_allowed: bool
) -> None:
    record_contents(request, run.application, run.pk, subject, is_allowed=is_allowed)


def record_contents(
    request: HttpRequest, application: str, run: UUID | None, subject: str, *, is_allowed: bool
) -> None:
    """`application` is its slug; `run` is the one in which that was said, None if it is not known."""
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
