"""In which state of its life an application is."""

from django.db import models

from apps.catalog.models import Application


class ApplicationState(models.TextChoices):
    DRAFT = "draft", "Draft"
    LIVE = "live", "Live"
    CHANGED = "changed", "Live with unpublished changes"
    ARCHIVED = "archived", "Archived"


def state_of(row: Application) -> ApplicationState:
    """A query for the draft, unless `with_drafts` found it."""
    if row.archived_at is not None:
        return ApplicationState.ARCHIVED
    if row.live_number == 0:
        return ApplicationState.DRAFT
    return ApplicationState.CHANGED if has_draft(row) else ApplicationState.LIVE


def has_draft(row: Application) -> bool:
    found = getattr(row, "drafted", None)
    return hasattr(row, "draft") if found is None else bool(found)


def with_drafts(rows: models.QuerySet[Application]) -> models.QuerySet[Application]:
    """The rows, each with `drafted`: whether it has a draft."""
    return rows.annotate(drafted=models.Q(draft__isnull=False))


def in_state(rows: models.QuerySet[Application], state: str) -> models.QuerySet[Application]:
    """The rows in a state; all of them for a name that is none."""
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
