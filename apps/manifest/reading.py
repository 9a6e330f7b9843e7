"""From a document to a manifest, or to everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from apps.manifest.advice import warning_problems
from apps.manifest.credentials import credential_places
from apps.manifest.documents import document_problems
from apps.manifest.duplicates import duplicate_problems
from apps.manifest.failures import failure_problems
from apps.manifest.manifest import Manifest
from apps.manifest.nodes import CHECKED
from apps.manifest.preview import without_preview
from apps.manifest.problems import Problem, cut
from apps.manifest.secrets import FOREIGN, FOREIGN_REFERENCE

__all__ = ["ManifestInvalid", "Problem", "Review", "read", "review"]


class ManifestInvalid(Exception):
    """A document that is no manifest. `problems` has one entry for each mistake."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.message}" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Review:
    errors: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def read(
    document: object,
    *,
    preview: bool = True,
    default_deployment: str = "",
    is_foreign: bool = False,
    is_checked: bool = False,
) -> Manifest:
    """Validate a document. Raises `ManifestInvalid` with all of its problems.

    `default_deployment` drives an orchestrator that names none. Without `preview`, what belongs
    to preview features is null or left out. A document that others keep (`is_foreign`) may not
    name secrets of this installation. Where somebody can mend it (`is_checked`), what a run does
    without is a problem as well.
    """
    if problems := document_problems(document):
        raise ManifestInvalid(cut(problems))
    assert isinstance(document, dict)  # noqa: S101 document_problems refuses everything else
    try:
        filled = with_deployment(document, default_deployment)
        manifest = Manifest.model_validate(
            filled, context={FOREIGN: is_foreign, CHECKED: is_checked}
        )
    except ValidationError as error:
        problems = failure_problems(error, document, Manifest)
        raise ManifestInvalid(cut(problems)) from None
    if problems := duplicate_problems(manifest) + (patch_problems(document) if is_foreign else []):
        raise ManifestInvalid(cut(problems))
    return manifest if preview else without_preview(manifest)


def patch_problems(document: dict[str, Any]) -> list[Problem]:
    """Names of secrets in patches, which are looked into only when they are applied."""
    return [
        Problem(place.path, FOREIGN_REFERENCE)
        for place in credential_places(document)
        if place.kind == "reference" and "override" in place.keys
    ]


def review(
    document: object, *, preview: bool, default_deployment: str = "", is_foreign: bool = False
) -> Review:
    """All mistakes of a document at once, and what is worth a warning."""
    errors: tuple[Problem, ...] = ()
    try:
        read(
            document,
            preview=preview,
            default_deployment=default_deployment,
            is_foreign=is_foreign,
            is_checked=True,
        )
    except ManifestInvalid as error:
        errors = error.problems
    if not isinstance(document, dict) or (errors and document_problems(document)):
        return Review(errors, ())
    return Review(errors, cut(warning_problems(document, preview=preview)))


def with_deployment(document: dict[str, Any], deployment_id: str) -> dict[str, Any]:
    """The document, with the orchestrator's deployment filled in if it names none."""
    orchestrator = document.get("orchestrator")
    if not deployment_id or not isinstance(orchestrator, dict) or "deployment" in orchestrator:
        return document
    filled = {"deployment": {"deployment_id": deployment_id}, **orchestrator}
    return {**document, "orchestrator": filled}
