"""The state of an application that cases are run on: the live one, the draft, or a version."""

from __future__ import annotations

import hashlib
from copy import copy
from typing import Any

import msgspec

from apps.catalog.content.installed import installed
from apps.catalog.models import Application
from apps.catalog.resolve import LARGEST_NUMBER, prepared_version, version_of
from apps.catalog.resolved_application import ResolvedApplication, resolve_draft
from apps.catalog.versions.drafts import draft_of, with_draft
from apps.errors import QuickAppError
from apps.integers import read_integer

LIVE = "live"
DRAFT = "draft"


class TargetUnknown(QuickAppError):
    """The application has no such state."""

    code = "target_unknown"


def resolve_target(application: Application, target: str) -> ResolvedApplication:
    """That state, whether or not the application is enabled.

    Queries the database. Raises `TargetUnknown`, `ApplicationBroken`.
    """
    if target == DRAFT:
        draft = draft_of(application)
        return resolve_draft(with_draft(draft), draft.manifest)
    if target == LIVE and not application.live_number:
        raise TargetUnknown(f"{application.slug} was never published; run its cases on the draft.")
    found = version_of(copy(application), number_of(application, target), installed())
    if found is None:
        raise TargetUnknown(f"{application.slug} has no version {target}, or it was withdrawn.")
    return prepared_version(found)


def number_of(application: Application, target: str) -> int | None:
    """The number of a version, None for the live one. Raises `TargetUnknown`."""
    if target == LIVE:
        return None
    number = read_integer(target, LARGEST_NUMBER)
    if number is None:
        raise TargetUnknown(f"Name live, draft or the number of a version, not {target[:50]!r}.")
    return number


def digest_of_document(document: Any) -> str:
    """The same for the same manifest as it was written."""
    written = msgspec.json.encode(document, order="deterministic")
    return hashlib.sha256(written).hexdigest()
