"""The draft of an application as the studio edits it: read, saved with the edits of others, published.

The one module of the studio that knows how drafts are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.core.exceptions import ValidationError

from apps.catalog.address_credentials import with_constants
from apps.catalog.application_files.own_skills import Skills, own_skills_of, skills_of
from apps.catalog.extraction import movable
from apps.catalog.history.differences import MISSING, differences
from apps.catalog.history.display import (
    MOST_SHOWN,
    RenderedDifference,
    rendered_differences,
    rendered_value,
)
from apps.catalog.history.merge import Merge
from apps.catalog.icons.values import is_image, validate_icon
from apps.catalog.masking import masked, put_back
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.review import Finding, finding
from apps.catalog.versions.drafts import DraftOvertaken, draft_of, save_draft, with_draft
from apps.console.studio.typed import TypedDraft, text_of
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

BESIDE = {"title", "description", "icon", "skills"}
"""Fields of a draft next to its manifest."""
MOST_ATTEMPTS = 3
"""At a save; somebody else would have to save between each of them."""


class DraftRefused(Exception):
    """The draft cannot be stored; the `findings` say where."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(refusal_of(findings))
        self.findings = findings


class DraftClashing(Exception):
    """Somebody else has changed the same places; `clashes` have both values as texts."""

    def __init__(self, overtaken: str, clashes: list[dict[str, str]]) -> None:
        super().__init__(f"{overtaken} You changed the same places. Choose whose value stays.")
        self.clashes = clashes


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """`document` has its plain credentials; `version` counts the saves of the draft, 0 for none."""

    title: str
    description: str
    document: Any
    icon: str
    skills: Skills
    version: int

    @property
    def masked(self) -> TypedDraft:
        document = masked(self.document)
        return TypedDraft(self.title, self.description, document, self.icon, self.skills)


def working_copy(row: Application) -> WorkingCopy:
    return copy_of(draft_of(row))


def copy_of(draft: ApplicationDraft) -> WorkingCopy:
    return WorkingCopy(
        title=draft.title,
        description=draft.description,
        document=draft.manifest,
        icon=draft.icon,
        skills=own_skills_of(with_draft(draft)),
        version=draft.version if draft.pk else 0,
    )


def sources_of(row: Application) -> list[Any]:
    """Documents with the credentials that a typed one may mask."""
    return [draft_of(row).manifest, row.manifest]


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """`said` is a sentence about the save. `refused` are fields that kept their stored values, for the
    reasons in `findings`.
    """

    said: str
    refused: list[str]
    findings: list[Finding]


def save(
    row: Application,
    typed: TypedDraft,
    seen: int,
    base: TypedDraft,
    choices: Mapping[str, str],
    user: Any,
) -> SavedDraft:
    """Store what was typed, merged with what others saved since `base`.

    A field that no draft can have keeps its stored value, and all others are saved. Raises
    `DraftRefused`, `DraftClashing`.
    """
    said = overtaken_by = ""
    for _ in range(MOST_ATTEMPTS):
        document = whole_document(typed, sources_of(row))
        values = {**asdict(typed), "manifest": document}
        if typed.skills is None:
            del values["skills"]
        try:
            return save_valid(row, typed, values, seen, user, said)
        except DraftOvertaken as overtaken:
            row = Application.objects.get(pk=row.pk)
            stored = copy_of(overtaken.draft) if overtaken.draft else working_copy(row)
            overtaken_by = str(overtaken)
        typed = merged(typed, base, stored.masked, choices, overtaken_by)
        base, seen = stored.masked, stored.version
        said = f"{overtaken_by} Both edits are kept."
    raise DraftClashing(overtaken_by, [])


def save_valid(
    row: Application, typed: TypedDraft, values: dict[str, Any], seen: int, user: Any, said: str
) -> SavedDraft:
    """Raises `DraftRefused`, `DraftOvertaken`."""
    try:
        save_draft(row, values, seen, user)
    except ValidationError as error:
        findings = findings_of(typed, problems_of(error))
        refused = sorted(BESIDE & getattr(error, "error_dict", {}).keys())
        if not refused or len(refused) < len(error.error_dict):
            raise DraftRefused(findings) from error
        others = {name: value for name, value in values.items() if name not in refused}
        if others.keys().isdisjoint(("manifest", *BESIDE)):
            raise DraftRefused(findings) from error
        saved = save_valid(row, typed, others, seen, user, said)
        found = [*findings, *saved.findings]
        return SavedDraft(refusal_of(found), [*refused, *saved.refused], found)
    return SavedDraft(f"Saved. {said}".rstrip(), [], [])


def refusal_of(findings: Sequence[Finding]) -> str:
    """Names the field of the first mistake."""
    first = findings[0]
    place = first.path.strip("()").capitalize() if first.path.startswith("(") else first.path
    return f"Could not be saved: {place or 'the manifest'}: {first.message}"


def makes_secrets(typed: TypedDraft, row: Application) -> bool:
    """Return whether saving would make secrets of credentials, which may not be complete yet."""
    return bool(movable(with_constants(whole_document(typed, sources_of(row)))))


def merged(
    mine: TypedDraft,
    base: TypedDraft,
    theirs: TypedDraft,
    choices: Mapping[str, str],
    overtaken: str,
) -> TypedDraft:
    """Raises `DraftClashing` for places that both changed, unless they are chosen."""
    merging = Merge(choices)
    found = merging.merged(base.as_json(), mine.as_json(), theirs.as_json())
    shown = [
        {"path": one.path, "mine": as_text(one.mine), "theirs": as_text(one.theirs)}
        for one in merging.clashes
        if one.path not in choices
    ]
    if shown:
        raise DraftClashing(overtaken, shown)
    return TypedDraft(**found)


def unpublished(row: Application) -> list[RenderedDifference]:
    """Where the draft differs from what is live. All of it for what was never published."""
    before: Any = MISSING
    if row.live_number:
        manifest, skills = masked(row.manifest), skills_of(row.pk)
        before = TypedDraft(row.title, row.description, manifest, row.icon, skills).as_json()
    after = working_copy(row).masked.as_json()
    for one in (before, after):
        if one is not MISSING and is_image(one["icon"]):
            one["icon"] = f"the picture {one['icon'][:8]}"  # its name is a long hash
    return rendered_differences([*differences(before, after)][:MOST_SHOWN])


def difference_rows(row: Application) -> Iterator[dict[str, Any]]:
    for one in unpublished(row):
        yield {**asdict(one), "path": one.path.removeprefix("document.")}


def as_text(value: Any) -> str:
    return "nothing" if value is MISSING else rendered_value(value)


def whole_document(typed: TypedDraft, sources: list[Any]) -> Any:
    """The document with the credentials that it masks. Raises `DraftRefused`."""
    found = put_back(typed.document, sources)
    if found.problems:
        raise DraftRefused(findings_of(typed, found.problems))
    return with_own_names(found.document)


def problems_of(error: ValidationError) -> list[Problem]:
    """Messages about a manifest begin with their paths."""
    if not hasattr(error, "error_dict"):
        return [Problem("", message) for message in error.messages]
    found = []
    for field, messages in error.message_dict.items():
        for message in messages:
            path, separator, text = message.partition(": ")
            is_placed = field == "manifest" and separator and " " not in path
            named = "" if field in ("manifest", "__all__") else f"({field})"
            found.append(Problem(path, text) if is_placed else Problem(named, message))
    return found


def title_problems(typed: TypedDraft) -> list[Problem]:
    return [] if typed.title else [Problem("(title)", "This field is required.")]


def icon_problems(typed: TypedDraft) -> list[Problem]:
    try:
        validate_icon(typed.icon)
    except ValidationError as error:
        return [Problem("(icon)", error.messages[0])]
    return []


def findings_of(typed: TypedDraft, problems: Sequence[Problem]) -> list[Finding]:
    text = text_of(typed.document)
    return [finding("error", problem, text) for problem in problems]
