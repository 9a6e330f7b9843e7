"""Who calls which deployment: as its model or its tool, in a sub-agent, in predefined content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings

from apps.catalog.content.layers import Content
from apps.catalog.review import deployment_names
from apps.catalog.secret_uses import User, users_by_name
from apps.manifest.validation import with_deployment


def deployment_uses(content: Content) -> dict[str, list[User]]:
    """By the id of a deployment, everybody who names it. One query."""
    return users_by_name(content, named_in)


def named_in(document: Any) -> Iterator[tuple[str, str]]:
    """A manifest that names no model has the default one, which counts as named by it."""
    if isinstance(document, dict):
        document = with_deployment(document, settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID)
    for place, name in deployment_names(document):
        yield name, place
