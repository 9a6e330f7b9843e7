"""Merges the live version into a draft that was started before that version was published."""

from collections.abc import Mapping, Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions import save_draft
from apps.catalog.actions.go_live import lock_application
from apps.catalog.history.merge import Clash
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.versions.drafts import check_seen, draft_of
from apps.catalog.versions.rebase import is_outdated, merge_with_live


class ConflictsOpen(Exception):
    """Raised if the draft and the live version changed the same fields. `live` is the number of the
    live version, and `clashes` are the unresolved conflicts.
    """

    def __init__(self, live: int, clashes: Sequence[Clash]) -> None:
        super().__init__(
            f"The draft and version {live} changed the same fields. Choose one value for each."
        )
        self.clashes = clashes


def check(row: Application, live: int | None) -> None:
    """Raise `ValidationError` if `live`, which the user reviewed, is not the live version."""
    if live is not None and live != row.live_number:
        raise ValidationError(
            f"Version {row.live_number} was published in the meantime. Review its changes first."
        )


def execute(
    row: Application,
    choices: Mapping[str, str],
    user: User | None,
    *,
    seen: int | None = None,
    live: int | None = None,
) -> ApplicationDraft:
    """Merge the live version into the draft. The saved draft is then based on the live version.

    `choices` maps the path of each conflict to "mine" for the draft or "theirs" for the live
    version. `seen` is the version of the draft, and `live` the number of the live version, that the
    user reviewed. Saves nothing if it raises `ConflictsOpen`, `DraftOvertaken` or
    `ValidationError`.
    """
    with transaction.atomic():
        row = lock_application(row)
        draft = draft_of(row)
        check_seen(draft, seen, user)
        check(row, live)
        if not is_outdated(row, draft):
            return draft
        merged = merge_with_live(row, draft, choices)
        if merged.undecided:
            raise ConflictsOpen(row.live_number, merged.undecided)
        return save_draft.execute(row, merged.value, draft.version, user, is_current=True)
