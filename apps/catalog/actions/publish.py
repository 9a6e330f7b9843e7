"""Publishes the draft of an application as its next version."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions.go_live import go_live, lock_application, read_note
from apps.catalog.models import Application, ApplicationDraft, ApplicationVersion
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.drafts import check_seen, draft_of
from apps.catalog.versions.publishing_requests import (
    SecondPublisherRequired,
    is_required,
    publishing_refusal,
    record_event,
)
from apps.listeners import Listeners

conversation_pinners = Listeners[[Application, int], None]("a new version")
"""Listeners that are called if a new version applies only to new conversations. Each receives the
application, and the number of the version that existing conversations continue to use.
"""


class DraftOutdated(ValidationError):
    """Raised if a version was published after the draft was started. `live` is the number of that
    version, and `based_on` the number of the version from which the draft started.
    """

    def __init__(self, live: int, based_on: int) -> None:
        super().__init__(
            f"Version {live} was published after this draft was begun from version {based_on}. "
            "Compare them, then merge its changes into the draft, or publish the draft anyway."
        )


def check(
    row: Application, draft: ApplicationDraft, *, user: User | None, is_over: bool = False
) -> None:
    """Raise `DraftOutdated` if the draft is not based on the live version and `is_over` is False,
    or `SecondPublisherRequired` if this user may not publish the draft.
    """
    if draft.based_on != row.live_number and not is_over:
        raise DraftOutdated(row.live_number, draft.based_on)
    if refused := publishing_refusal(row, draft, user):
        raise SecondPublisherRequired(refused)


def execute(
    row: Application,
    note: str,
    *,
    user: User | None = None,
    seen: int | None = None,
    only_new: bool = False,
    is_over: bool = False,
    address: str = "",
) -> ApplicationVersion:
    """Publish the draft as a new version. Without a draft, publish the live version again with the
    current predefined content.

    `seen` is the version of the draft that the user reviewed. With `only_new`, existing
    conversations stay on the previous version. With `is_over`, the draft may be outdated. `address`
    is the user's IP address, for the audit log.

    Raises `ValidationError` with the errors in each field, `DraftOvertaken` if the draft changed
    after the review, and the exceptions that `check` raises.
    """
    said = read_note(note)
    with transaction.atomic():
        row = lock_application(row)
        draft = draft_of(row)
        check_seen(draft, seen, user)
        check(row, draft, user=user, is_over=is_over)
        before = row.live_number
        version = go_live(row, definition_of(draft), said, user)
        if draft.pk:
            draft.delete()
        if is_required(row):
            record_event("publishing.done", row, user, address, f"version {version.number}")
        if only_new and before:
            conversation_pinners.call(row, before)
    return version
