"""Represents the definition of an application as one value, for drafts and versions."""

import hashlib
import json
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from apps.catalog.credentials.masking import mask_credentials
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.own_skills import Skills, own_skills_of

COLUMNS = ("title", "description", "icon", "manifest")
"""The columns that an application and its draft have in common. Skills have separate rows."""


@dataclass(frozen=True, slots=True)
class ApplicationDefinition:
    """The definition of an application. `skills` are its own skills, or None for the stored
    skills.
    """

    title: str
    description: str
    icon: str
    manifest: Any
    skills: Skills | None = None

    @property
    def masked(self) -> Self:
        """Return the definition with masked credentials."""
        return replace(self, manifest=mask_credentials(self.manifest))

    @property
    def columns(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in COLUMNS}

    @property
    def digest(self) -> str:
        """Return a hash of the definition. Requests to publish a draft store it."""
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
    """Return the definition with all its skills and masked credentials, for display or a merge."""
    found = definition_of(source)
    row = source.application if isinstance(source, ApplicationDraft) else source
    return replace(found, skills=own_skills_of(row, found.skills)).masked
