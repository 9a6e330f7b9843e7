"""Finds the state of an application for a run of test cases: the live state, the draft, or a
version.
"""

from __future__ import annotations

import hashlib
from copy import copy
from typing import Any

import msgspec

from apps.catalog.content.installed import installed_content
from apps.catalog.models import Application
from apps.catalog.resolve import LARGEST_NUMBER, find_version, prepared_version
from apps.catalog.resolved_application import ResolvedApplication, resolve_draft
from apps.catalog.versions.drafts import draft_of, with_draft
from apps.errors import QuickAppError
from apps.integers import read_integer

LIVE = "live"
DRAFT = "draft"


class TargetUnknown(QuickAppError):
    """Raised if the application does not have the requested state."""

    code = "target_unknown"


def resolve_target(application: Application, target: str) -> ResolvedApplication:
    """Return the application in that state, enabled or not.

    Queries the database. Raises `TargetUnknown`, `ApplicationBroken`.
    """
    if target == DRAFT:
        draft = draft_of(application)
        return resolve_draft(with_draft(draft), draft.manifest, draft.skills)
    if target == LIVE and not application.live_number:
        raise TargetUnknown(
            f"{application.slug} was never published. Run its test cases on the draft."
        )
    found = find_version(copy(application), number_of(application, target), installed_content())
    if found is None:
        raise TargetUnknown(
            f"{application.slug} has no version {target}, or it was withdrawn. Choose another."
        )
    return prepared_version(found)


def number_of(application: Application, target: str) -> int | None:
    """Return the number of a version, or None for the live state. Raises `TargetUnknown`."""
    if target == LIVE:
        return None
    number = read_integer(target, LARGEST_NUMBER)
    if number is None:
        raise TargetUnknown(
            f"Unknown version: {target[:50]!r}. Use live, draft or a version number."
        )
    return number


def digest_of_document(document: Any) -> str:
    """Return a digest that is the same for equal manifests."""
    written = msgspec.json.encode(document, order="deterministic")
    return hashlib.sha256(written).hexdigest()
