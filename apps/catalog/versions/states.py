"""Determines the lifecycle state of an application: draft, live, changed or archived."""

from django.db import models

from apps.catalog.models import Application


class ApplicationState(models.TextChoices):
    DRAFT = "draft", "Draft"
    LIVE = "live", "Live"
    CHANGED = "changed", "Live with unpublished changes"
    ARCHIVED = "archived", "Archived"


def application_state(row: Application) -> ApplicationState:
    """Return the state of an application. Queries the draft, unless `with_drafts` loaded it."""
    if row.archived_at is not None:
        return ApplicationState.ARCHIVED
    if row.live_number == 0:
        return ApplicationState.DRAFT
    return ApplicationState.CHANGED if has_draft(row) else ApplicationState.LIVE


def has_draft(row: Application) -> bool:
    found = getattr(row, "drafted", None)
    if found is None:
        draft = getattr(row, "draft", None)  # A draft that `draft_of` created is not stored.
        return draft is not None and draft.pk is not None
    return bool(found)


def with_drafts(rows: models.QuerySet[Application]) -> models.QuerySet[Application]:
    """Annotate each application with `drafted`: whether it has a draft."""
    return rows.annotate(drafted=models.Q(draft__isnull=False))


def in_state(rows: models.QuerySet[Application], state: str) -> models.QuerySet[Application]:
    """Return the applications in this state, or all of them if the state is unknown."""
    present = rows.filter(archived_at=None)
    match state:
        case ApplicationState.ARCHIVED:
            return rows.exclude(archived_at=None)
        case ApplicationState.DRAFT:
            return present.filter(live_number=0)
        case ApplicationState.CHANGED:
            return present.filter(live_number__gt=0, draft__isnull=False)
        case ApplicationState.LIVE:
            return present.filter(live_number__gt=0, draft__isnull=True)
        case _:
            return rows
