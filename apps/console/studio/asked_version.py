"""Finds the version of an application that an editor's request is about: the draft being typed or
the live version.
"""

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
"""This value of `which` in a request means the live version. Any other value means the draft."""


@dataclass(frozen=True, slots=True)
class AskedVersion:
    """The manifest of a version, without masks. `resolve` prepares this manifest, or a reduced copy
    of it, to run.
    """

    document: Any
    resolve: Callable[[Any], ResolvedApplication]


def asked_version(row: Application, body: dict[str, Any]) -> AskedVersion:
    """Return the version that the request is about. Raises `UnreadableDraft` if the request is
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
    return AskedVersion(document, partial(resolve_draft, draft, skills=typed.skills))


def live_version(row: Application) -> AskedVersion:
    """Return the live version. Raises `UnreadableDraft` if there is none."""
    if not row.live_number:
        raise UnreadableDraft("The application is not published yet.")

    def resolve(document: Any) -> ResolvedApplication:
        return prepare_version(as_written(row, {"manifest": document}), row.live_number)

    return AskedVersion(row.manifest, resolve)
