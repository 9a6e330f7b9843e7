"""Saves the studio's draft of an application, merged with other users' edits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.exceptions import ValidationError

from apps.catalog.actions import save_draft
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.credentials.url_credentials import without_url_credentials
from apps.catalog.extraction import movable
from apps.catalog.field_problems import field_problems
from apps.catalog.history.display import rendered_clash
from apps.catalog.history.merge import merge_documents
from apps.catalog.icons.values import validate_icon
from apps.catalog.models import Application
from apps.catalog.own_skills import skill_problems
from apps.catalog.review.cycles import cycle_problems
from apps.catalog.review.manifests import Finding, finding, review_text
from apps.catalog.versions.definitions import ApplicationDefinition, shown_definition
from apps.catalog.versions.drafts import DraftOvertaken, draft_of
from apps.console.studio.field_labels import application_label, finding_label
from apps.console.studio.typed_draft import manifest_text
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem
from apps.workspace.local.models import Secret

MOST_ATTEMPTS = 3
"""The maximum number of attempts to save. An attempt fails if another user saves in the meantime.
"""


class DraftRefused(Exception):
    """The draft cannot be saved, for the reasons in `findings`."""

    def __init__(self, findings: list[Finding], manifest: Any) -> None:
        super().__init__(refusal_of(findings, manifest))
        self.findings = findings


class DraftClashing(Exception):
    """Another user has changed the same values in the draft. `clashes` contains both users' values."""

    def __init__(self, overtaken: str, clashes: list[dict[str, str]]) -> None:
        super().__init__(f"{overtaken} You changed the same fields. Choose one value for each.")
        self.clashes = clashes


def draft_sources(row: Application) -> list[Any]:
    """Return the manifests whose credentials replace the masks in an unsaved draft."""
    return [draft_of(row).manifest, row.manifest]


def review_draft(row: Application, draft: ApplicationDefinition) -> list[Finding]:
    """Return the errors and warnings in a draft, in which credentials are still masked."""
    found = review_text(manifest_text(draft.manifest), sources=draft_sources(row))
    beside = [*title_problems(draft), *icon_problems(draft), *skill_problems(draft.skills or {})]
    beside += cycle_problems(row.slug, with_own_names(draft.manifest), row.pk)
    return [*found, *findings_of(draft, beside)]


def findings_data(findings: Iterable[Finding], manifest: Any) -> list[dict[str, Any]]:
    """Return the findings in a manifest with the labels of their fields."""
    return [{**asdict(one), "label": finding_label(one.path, manifest)} for one in findings]


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """The result of saving a draft."""

    message: str
    """The message for the user."""
    refused: list[str]
    """The fields with invalid values, which were not saved."""
    findings: list[Finding]
    """The errors in the fields that were not saved."""


def save_working_copy(
    row: Application,
    typed: ApplicationDefinition,
    seen: int,
    base: ApplicationDefinition,
    choices: Mapping[str, str],
    user: Any,
) -> SavedDraft:
    """Save the fields of a draft that have valid values, merged with other users' edits since
    `base`.

    Raises `DraftRefused` if the manifest cannot be saved, and `DraftClashing` if `choices` does not
    resolve a conflict.
    """
    message = overtaken_by = ""
    for _ in range(MOST_ATTEMPTS):
        values = {**typed.as_json(), "manifest": with_own_names(typed.manifest)}
        if typed.skills is None:
            del values["skills"]
        try:
            return save_valid(row, typed, values, seen, user, message)
        except DraftOvertaken as overtaken:
            row = Application.objects.get(pk=row.pk)
            draft, overtaken_by = overtaken.draft or draft_of(row), str(overtaken)
        stored = shown_definition(draft)
        typed = merge_drafts(typed, base, stored, choices, overtaken_by)
        base, seen = stored, draft.version
        message = f"{overtaken_by} Both edits were merged."
    raise DraftClashing(overtaken_by, [])


def save_valid(
    row: Application,
    typed: ApplicationDefinition,
    values: dict[str, Any],
    seen: int,
    user: Any,
    message: str,
) -> SavedDraft:
    """Save the fields with valid values. Raises `DraftRefused` if the manifest is invalid, and
    `DraftOvertaken` if another user has saved the draft.
    """
    try:
        made = save_draft.execute(row, values, seen, user).made_secrets
    except ValidationError as error:
        findings = findings_of(typed, problems_in_error(error))
        refused = {*getattr(error, "error_dict", ())}
        if not refused or not refused <= values.keys() - {"manifest"}:
            raise DraftRefused(findings, typed.manifest) from error
        others = {name: value for name, value in values.items() if name not in refused}
        saved = save_valid(row, typed, others, seen, user, message)
        found = [*findings, *saved.findings]
        message = refusal_of(found, typed.manifest)
        return SavedDraft(message, [*sorted(refused), *saved.refused], found)
    message = " ".join(filter(None, ("Saved.", message, *map(stored_secret, made))))
    return SavedDraft(message, [], [])


def stored_secret(secret: Secret) -> str:
    return f"A credential is stored as the secret {secret.name!r}, for {', '.join(secret.servers)}."


def refusal_of(findings: Sequence[Finding], manifest: Any) -> str:
    """Return a message with the first error and its field."""
    first = findings[0]
    return f"Not saved: {finding_label(first.path, manifest)}: {first.message}"


def makes_secrets(typed: ApplicationDefinition, row: Application) -> bool:
    """Return True if saving would replace credentials with secrets."""
    return bool(movable(without_url_credentials(whole_document(typed, draft_sources(row)))))


def merge_drafts(
    mine: ApplicationDefinition,
    base: ApplicationDefinition,
    theirs: ApplicationDefinition,
    choices: Mapping[str, str],
    overtaken: str,
) -> ApplicationDefinition:
    """Merge two drafts that are based on `base`. Raises `DraftClashing` if both drafts changed the
    same value and `choices` does not select a side.
    """
    found = merge_documents(base.as_json(), mine.as_json(), theirs.as_json(), choices)
    if found.undecided:
        shown = map(rendered_clash, found.undecided)
        clashes = [
            {
                "path": one.path,
                "label": application_label(one.path, one.items),
                "mine": one.mine,
                "theirs": one.theirs,
            }
            for one in shown
        ]
        raise DraftClashing(overtaken, clashes)
    return ApplicationDefinition(**found.value)


def whole_document(typed: ApplicationDefinition, sources: list[Any]) -> Any:
    """Return the manifest with unmasked credentials. Raises `DraftRefused` if a mask has no
    matching credential.
    """
    found = restore_credentials(typed.manifest, sources)
    if found.problems:
        raise DraftRefused(findings_of(typed, found.problems), typed.manifest)
    return with_own_names(found.document)


def problems_in_error(error: ValidationError) -> list[Problem]:
    """Return the problems in an error. Problems outside of the manifest have the field's name in
    parentheses as their path.
    """
    return [
        Problem(found.path, found.message)
        if found.field in ("", "manifest")
        else Problem(f"({found.field})", found.message)
        for found in field_problems(error)
    ]


def title_problems(typed: ApplicationDefinition) -> list[Problem]:
    return [] if typed.title else [Problem("(title)", "This field is required.")]


def icon_problems(typed: ApplicationDefinition) -> list[Problem]:
    try:
        validate_icon(typed.icon)
    except ValidationError as error:
        return [Problem("(icon)", error.messages[0])]
    return []


def findings_of(typed: ApplicationDefinition, problems: Sequence[Problem]) -> list[Finding]:
    text = manifest_text(typed.manifest)
    return [finding("error", problem, text) for problem in problems]
