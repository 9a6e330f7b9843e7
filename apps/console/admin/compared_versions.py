"""Two sides of an application compared: versions, or the draft."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404

from apps.catalog.content.layers import Content
from apps.catalog.history.differences import Difference, differences
from apps.catalog.history.display import MOST_SHOWN, RenderedDifference, rendered_differences
from apps.catalog.masking import masked
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.content_changes import content_changes
from apps.catalog.versions.drafts import draft_of, with_draft
from apps.catalog.versions.recorder import content_for
from apps.catalog.versions.snapshots import content_of
from apps.integers import read_integer

DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison: a version, or the draft with the content that is installed."""

    name: str
    written: dict[str, Any]
    content: Content


def refusals(act: Callable[[], object]) -> list[str]:
    """Why it was refused, [] if it is done."""
    try:
        act()
    except ValidationError as error:
        if not hasattr(error, "error_dict"):
            return list(error.messages)
        return [
            message if name == "__all__" else f"{name}: {message}"
            for name, lines in error.message_dict.items()
            for message in lines
        ]
    return []


def version_of(row: Application, number: int) -> ApplicationVersion:
    """Raises Http404."""
    found = row.versions.select_related("application").filter(number=number).first()
    if found is None:
        raise Http404
    return found


def side(row: Application, name: str) -> Compared:
    """Raises Http404 for what is neither a number of a version nor `draft`."""
    if name == DRAFT:
        draft = draft_of(row)
        return Compared(DRAFT, written(draft, draft.manifest), content_for(with_draft(draft)))
    if (number := read_integer(name)) is None:
        raise Http404
    version = version_of(row, number)
    document = written(version, version.document)
    return Compared(name, document, content_of(version.snapshot_id, content_for(row)))


def shown_change(row: Application) -> list[RenderedDifference]:
    """What publishing the draft would change in what is live."""
    live = side(row, str(row.live_number)) if row.live_number else nothing(row)
    return rendered_differences(islice(between(live, side(row, DRAFT)), MOST_SHOWN))


def nothing(row: Application) -> Compared:
    """What is live of an application that was never published."""
    return Compared("nothing", {}, content_for(row))


def written(side: ApplicationDraft | ApplicationVersion, manifest: Any) -> dict[str, Any]:
    shown = {name: getattr(side, name) for name in ("title", "description", "icon")}
    return {**shown, "manifest": masked(manifest)}


def between(one: Compared, other: Compared) -> Iterator[Difference]:
    """The differences of what is written, then of the predefined content that it uses."""
    yield from differences(one.written, other.written)
    for change in content_changes(other.written.get("manifest"), one.content, other.content):
        yield from change.difference
