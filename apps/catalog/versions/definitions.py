"""Defines the values that make up a version or draft of an application."""

import hashlib
import json
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from apps.catalog.credentials.masking import mask_credentials
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.own_skills import Skills, own_skills_of

COLUMNS = ("title", "description", "icon", "manifest")
"""The columns that an application and its draft have in common. Skills are in a separate table."""


@dataclass(frozen=True, slots=True)
class ApplicationDefinition:
    """The values that make up a version or draft."""

    title: str
    description: str
    icon: str
    manifest: Any
    skills: Skills | None = None
    """The application's own skills, or None for the stored skills."""

    @property
    def masked(self) -> Self:
        """Return a copy with masked credentials."""
        return replace(self, manifest=mask_credentials(self.manifest))

    @property
    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}

    @property
    def digest(self) -> str:
        """Return a hash of the definition. A publishing request stores it to detect later changes."""
        values = [*self.as_json().values()]
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def definition_of(
    source: Application | ApplicationDraft | ApplicationVersion,
) -> ApplicationDefinition:
    manifest = source.document if isinstance(source, ApplicationVersion) else source.manifest
    skills = source.skills if isinstance(source, ApplicationDraft) else None
    return ApplicationDefinition(source.title, source.description, source.icon, manifest, skills)


def shown_definition(source: Application | ApplicationDraft) -> ApplicationDefinition:
    """Return the definition with masked credentials and all of the application's own skills, for
    display or a merge.
    """
    found = definition_of(source)
    row = source.application if isinstance(source, ApplicationDraft) else source
    return replace(found, skills=own_skills_of(row, found.skills)).masked
