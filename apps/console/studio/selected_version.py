"""Loads the version of an application in a studio request: the edited draft or the live version."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication, prepare_version, resolve_draft
from apps.catalog.versions.drafts import as_written
from apps.console.studio.typed_draft import UnreadableDraft, typed_in
from apps.console.studio.working_copy import DraftRefused, draft_sources, whole_document
from apps.errors import ApplicationBroken

LIVE = "live"
"""The value of `which` in a request that selects the live version instead of the draft."""


@dataclass(frozen=True, slots=True)
class SelectedVersion:
    document: Any
    """The manifest, with unmasked credentials."""
    resolve: Callable[[Any], ResolvedApplication]
    """The function that prepares the manifest, or a reduced copy of it, for a run."""


def select_version(row: Application, body: dict[str, Any]) -> SelectedVersion:
    """Return the version that the request selects. Raises `UnreadableDraft` if the request is
    invalid, and `ApplicationBroken` if the draft has errors.
    """
    if body.get("which") == LIVE:
        return live_version(row)
    typed = typed_in(body)
    try:
        document = whole_document(typed, draft_sources(row))
    except DraftRefused as error:
        lines = tuple(f"{one.path}: {one.message}" for one in error.findings)
        raise ApplicationBroken(row.slug, lines) from error
    draft = as_written(row, {"title": typed.title, "description": typed.description})
    return SelectedVersion(document, partial(resolve_draft, draft, skills=typed.skills))


def live_version(row: Application) -> SelectedVersion:
    """Return the live version. Raises `UnreadableDraft` if there is none."""
    if not row.live_number:
        raise UnreadableDraft("The application is not published yet.")

    def resolve(document: Any) -> ResolvedApplication:
        return prepare_version(as_written(row, {"manifest": document}), row.live_number)

    return SelectedVersion(row.manifest, resolve)
