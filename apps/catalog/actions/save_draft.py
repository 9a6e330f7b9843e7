"""Saves the draft of an application. The draft takes effect only when it is published."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions.go_live import lock_application
from apps.catalog.credentials.masking import restore_credentials
from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.field_problems import manifest_error
from apps.catalog.models import Application, ApplicationDraft, PublishingRequest
from apps.catalog.own_skills import skills_of
from apps.catalog.versions.definitions import COLUMNS, definition_of
from apps.catalog.versions.drafts import check_seen, draft_of


def check(draft: ApplicationDraft, user: User | None) -> None:
    """Raise `ValidationError` if the draft has no title, its manifest is not an object, or it
    contains credentials that the user may not enter. Other errors are allowed in a draft.
    """
    if not isinstance(draft.manifest, dict):
        raise ValidationError({"manifest": "Enter a JSON object."})
    if not draft.title.strip():
        raise ValidationError({"title": "This field is required."})
    if refused := forbidden_credentials(draft.manifest, user):
        raise manifest_error(refused)


def execute(
    row: Application,
    values: Mapping[str, Any],
    seen: int | None,
    user: User | None,
    *,
    is_current: bool = False,
    keeps_masks: bool = False,
) -> ApplicationDraft:
    """Save the draft with new `values` for any of its title, description, icon, manifest and
    skills.

    Masks are replaced with the credentials from the draft or the live version, and plain
    credentials become secrets. With `keeps_masks`, a mask without a matching credential remains,
    and the draft cannot be published until the credential is entered again. If the draft changes, a
    pending request to publish it is withdrawn.

    `seen` is the version of the draft that the user edited, 0 if there was no draft, or None to
    skip this check. With `is_current`, the saved draft counts as based on the live version. Raises
    `DraftOvertaken` if another user saved the draft in the meantime, and `ValidationError` if the
    values are invalid.
    """
    with transaction.atomic():
        live = lock_application(row)
        draft = draft_of(row)
        check_seen(draft, seen, user)
        before = definition_of(draft).digest if draft.pk else ""
        stored = [draft.manifest, live.manifest]
        for name in COLUMNS:
            if name in values:
                setattr(draft, name, values[name])
        if "skills" in values:
            # Unchanged skills are not stored, because an import may change them in the meantime.
            draft.skills = values["skills"] if values["skills"] != skills_of(row.pk) else None
        found = restore_credentials(draft.manifest, stored)
        if found.problems and not keeps_masks:
            raise manifest_error(found.problems)
        draft.manifest = found.document
        check(draft, user)
        extracted = extract(draft.manifest, stored, user=user)
        draft.manifest, draft.made_secrets = extracted.document, extracted.made
        is_changed = before != definition_of(draft).digest
        if is_changed:
            draft.author = user
        if is_current:
            draft.based_on = live.live_number
        draft.clean_fields(exclude=["author", "application"])
        draft.save()
        if is_changed and user is not None:
            draft.editors.add(user)
        withdraw_outdated_request(draft)
    return draft


def withdraw_outdated_request(draft: ApplicationDraft) -> None:
    found = PublishingRequest.objects.filter(draft=draft).first()
    if found is not None and found.is_open and found.digest != definition_of(draft).digest:
        found.delete()
