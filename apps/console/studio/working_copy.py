"""The draft of an application as the studio edits it: read, saved with the edits of others, discarded.

The one module of the studio that knows how drafts are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.extraction import extract, refusals
from apps.catalog.history.differences import MISSING
from apps.catalog.history.display import rendered_value
from apps.catalog.history.merge import Merge
from apps.catalog.masking import masked, put_back
from apps.catalog.models import Application
from apps.catalog.review import Finding, finding
from apps.console.studio.typed import Typed, text_of
from apps.manifest.aliases import with_own_names
from apps.manifest.problems import Problem

UNREADABLE = "The draft was not saved. Each mistake stands beside its field."


class Refused(Exception):
    """The draft cannot be stored; the `findings` say where."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(UNREADABLE)
        self.findings = findings


class Clashing(Exception):
    """Somebody else has changed the same places; `clashes` have both values as texts."""

    def __init__(self, clashes: list[dict[str, str]]) -> None:
        super().__init__("Somebody else changed the same places. Choose whose value stays.")
        self.clashes = clashes


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """`document` has its plain credentials; `version` counts the saves of the draft."""

    title: str
    description: str
    document: Any
    version: int
    has_draft: bool = False

    @property
    def shown(self) -> dict[str, Any]:
        """What the page gets, with credentials masked."""
        return {
            "title": self.title,
            "description": self.description,
            "document": masked(self.document),
            "version": self.version,
        }


def working_copy(application: Application) -> WorkingCopy:
    return WorkingCopy(
        application.title, application.description, application.manifest, application.version
    )


def sources_of(application: Application) -> list[Any]:
    """Documents with the credentials that a typed one may mask."""
    return [application.manifest]


@transaction.atomic
def save(
    application: Application,
    typed: Typed,
    seen: int,
    base: Typed,
    choices: Mapping[str, str],
    user: Any,
) -> tuple[WorkingCopy, str]:
    """Store what was typed, merged with what others saved since `base`; gives a sentence about it.

    Raises `Refused`, `Clashing`.
    """
    row = Application.objects.select_for_update().get(pk=application.pk)
    stored = working_copy(row)
    said = "Saved."
    if stored.version != seen:
        typed, said = merged(typed, base, stored, choices)
    document = whole_document(typed, sources_of(row))
    if refused := refusals(document, user):
        raise Refused(findings_of(typed, refused))
    found = extract(document, sources_of(row), user=user)
    row.title, row.description, row.manifest = typed.title, typed.description, found.document
    try:
        row.full_clean()
    except ValidationError as error:
        raise Refused(findings_of(typed, problems_of(error))) from error
    row.save()
    return working_copy(row), said


def discard(application: Application) -> WorkingCopy:
    return working_copy(application)


def merged(
    mine: Typed, base: Typed, stored: WorkingCopy, choices: Mapping[str, str]
) -> tuple[Typed, str]:
    """Raises `Clashing` for places that both changed, unless they are chosen."""
    merging = Merge(choices)
    theirs = Typed(stored.title, stored.description, masked(stored.document))
    found = merging.merged(base.as_json(), mine.as_json(), theirs.as_json())
    open_clashes = [clash for clash in merging.clashes if clash.path not in choices]
    if open_clashes:
        shown = [
            {"path": one.path, "mine": as_text(one.mine), "theirs": as_text(one.theirs)}
            for one in open_clashes
        ]
        raise Clashing(shown)
    return Typed(**found), "Saved, together with what somebody else saved meanwhile."


def as_text(value: Any) -> str:
    return "nothing" if value is MISSING else rendered_value(value)


def whole_document(typed: Typed, sources: list[Any]) -> Any:
    """The document with the credentials that it masks. Raises `Refused`."""
    found = put_back(typed.document, sources)
    if found.problems:
        raise Refused(findings_of(typed, found.problems))
    return with_own_names(found.document)


def problems_of(error: ValidationError) -> list[Problem]:
    """The messages begin with their paths, as `Application.clean` writes them."""
    found = []
    for field, messages in error.message_dict.items():
        for message in messages:
            path, separator, text = message.partition(": ")
            is_placed = field == "manifest" and separator and " " not in path
            found.append(Problem(path, text) if is_placed else Problem(f"({field})", message))
    return found


def findings_of(typed: Typed, problems: Any) -> list[Finding]:
    text = text_of(typed.document)
    return [finding("error", problem, text) for problem in problems]
