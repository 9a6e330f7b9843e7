"""The state of an application that cases are run on: the live one, the draft, or a version."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from apps.catalog.content.installed import installed
from apps.catalog.models import Application
from apps.catalog.resolve import ResolvedApplication, prepare_application
from apps.errors import QuickAppError

LIVE = "live"


class TargetUnknown(QuickAppError):
    """The application has no such state."""

    code = "target_unknown"


def resolve_target(application: Application, target: str) -> ResolvedApplication:
    """That state, enabled or not, with the content that is installed now.

    Synchronous. Raises `TargetUnknown`, `ApplicationBroken`.
    """
    if target != LIVE:
        raise TargetUnknown(f"{application.slug} has no version {target!r}.")
    return prepare_application(application, installed())


def digest_of_document(document: Any) -> str:
    """The same for the same manifest as it was written."""
    written = msgspec.json.encode(document, order="deterministic")
    return hashlib.sha256(written).hexdigest()
