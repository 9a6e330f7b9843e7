"""Compares two states of an application: a version, the draft, or the live version."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.catalog.content.layers import Content
from apps.catalog.history.differences import ValueDifference, differences
from apps.catalog.icons.values import is_image
from apps.catalog.models import Application, ApplicationVersion
from apps.catalog.versions.content_changes import content_changes, live_content
from apps.catalog.versions.definitions import ApplicationDefinition, definition_of
from apps.catalog.versions.drafts import draft_of
from apps.catalog.versions.snapshots import snapshot_content
from apps.catalog.versions.version_recorder import content_for


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One of the two states of an application that are compared. The credentials in `columns` are
    masked. `content` includes the application's own skills.
    """

    columns: Mapping[str, Any]
    content: Content


def draft_side(row: Application) -> ComparisonSide:
    """Return the state of the draft, or else of the live version, with the current content."""
    draft = draft_of(row)
    return ComparisonSide(shown_columns(definition_of(draft)), content_for(row, draft.skills))


def version_side(row: Application, version: ApplicationVersion) -> ComparisonSide:
    content = snapshot_content(version.snapshot_id, content_for(row))
    return ComparisonSide(shown_columns(definition_of(version)), content)


def shown_columns(definition: ApplicationDefinition) -> dict[str, Any]:
    """Return the columns of a definition for display, with masked credentials and the shortened
    name of a stored image.
    """
    icon = definition.icon
    cut = {"icon": f"the picture {icon[:8]}"} if is_image(icon) else {}
    return {**definition.masked.columns, **cut}


def compare_definitions(before: ComparisonSide, after: ComparisonSide) -> Iterator[ValueDifference]:
    """Yield the differences between the columns, then those between the skills and predefined items
    in use.
    """
    yield from differences(before.columns, after.columns)
    for change in content_changes(after.columns["manifest"], before.content, after.content):
        yield from change.differences


def unpublished_differences(row: Application) -> Iterator[ValueDifference]:
    """Yield the changes that publishing the draft would make. If there is no draft, yield the
    changes that republishing would make.
    """
    content, _ = live_content(row)
    columns = shown_columns(definition_of(row)) if row.live_number else {}
    yield from compare_definitions(ComparisonSide(columns, content), draft_side(row))
