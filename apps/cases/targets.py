"""Finds the version of an application on which test cases run: the live version, the draft, or a
numbered version.
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
    """The application does not have the requested version."""

    code = "target_unknown"


def resolve_target(application: Application, target: str) -> ResolvedApplication:
    """Prepare this version of the application to run, even if the application is disabled.

    Raises `TargetUnknown` if the version does not exist, and `ApplicationBroken` if its manifest is
    invalid.
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
            f"{application.slug} has no version {target}, or it was withdrawn. Choose another version."
        )
    return prepared_version(found)


def number_of(application: Application, target: str) -> int | None:
    """Parse a version number. Return None for the live version. Raises `TargetUnknown` if `target`
    is neither a version number nor the live version.
    """
    if target == LIVE:
        return None
    number = read_integer(target, LARGEST_NUMBER)
    if number is None:
        raise TargetUnknown(
            f"Unknown version: {target[:50]!r}. Use live, draft or a version number."
        )
    return number


def digest_of_document(document: Any) -> str:
    """Return a SHA-256 digest of a manifest. Equal manifests have equal digests."""
    written = msgspec.json.encode(document, order="deterministic")
    return hashlib.sha256(written).hexdigest()
