"""Checks that an application meets the rules for saving or publishing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError

from apps.accounts.caller import bucket_of
from apps.catalog.application_files.models import managed_refusal
from apps.catalog.field_problems import manifest_error
from apps.catalog.history.actors import current_actor
from apps.catalog.models import Application, ApplicationDraft
from apps.catalog.own_skills import Skills, skill_problems
from apps.catalog.review.cycles import cycle_problems
from apps.catalog.review.manifests import review_manifest
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.drafts import with_draft
from apps.manifest.contexts import FileContext, FolderContext
from apps.manifest.problems import Problem
from apps.manifest.validation.validation import ManifestInvalid, read_manifest
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.local.files.store import buckets_of

ADVICE = "Only the owner can attach it. Use a shared file, whose URL begins with files/public/."


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Describes how an application is saved, which determines the checks that apply.

    An unchanged manifest is checked only with `is_published` or `is_from_files`, so that an
    operator can save other properties of an application whose manifest has errors.
    """

    skills: Skills | None = None
    """The skills that are saved together with the application."""
    is_published: bool = False
    is_from_files: bool = False
    secrets_may_be_missing: bool = False
    """True for imported files, whose secrets may be added later."""


FORM = Circumstances()
"""The circumstances for an application that a user saves in a form or through the API."""


def check_row(
    row: Application, circumstances: Circumstances = FORM, *, exclude: Collection[str] = ()
) -> None:
    """Raise `ValidationError` with all errors in the application, grouped by field. Skip the
    columns in `exclude`.
    """
    errors: dict[str, list[ValidationError]] = {}
    # `check_content` reviews the manifest.
    columns = partial(row.full_clean, {*exclude, "manifest"})
    for check in (columns, partial(check_content, row, circumstances)):
        try:
            check()
        except ValidationError as error:
            errors = error.update_error_dict(errors)
    if errors:
        raise ValidationError(errors)


def check_content(row: Application, circumstances: Circumstances = FORM) -> None:
    """Raise `ValidationError` if the application is loaded from managed files, or if its manifest
    or owner is invalid.
    """
    if not circumstances.is_from_files and (refusal := managed_refusal(row.pk)):
        raise ValidationError(refusal)
    stored = Application.objects.filter(pk=row.pk).first() if row.pk else None
    is_checked = (
        circumstances.is_published
        or circumstances.is_from_files
        or stored is None
        or definition_of(stored) != definition_of(row)
    )
    if is_checked and (errors := manifest_problems(row, circumstances)):
        raise manifest_error(errors)
    is_renamed = stored is not None and stored.slug != row.slug
    if is_renamed and (cycles := cycle_problems(row.slug, row.manifest, row.pk)):
        raise ValidationError({"manifest": [*map(str, cycles)]})
    if stored is not None and row.is_enabled and not (stored.is_enabled or stored.live_number):
        raise ValidationError(
            {"is_enabled": "The application has no published version. Publish it first."}
        )
    is_other_owner, files = added_files(row)
    if is_other_owner and files:
        raise ValidationError({"owner": [*map(str, files)]})


def manifest_problems(row: Application, circumstances: Circumstances = FORM) -> Sequence[Problem]:
    """Return the reasons why the manifest, or the skills saved with it, cannot be saved."""
    is_missing_allowed = circumstances.secrets_may_be_missing
    review = review_manifest(row.manifest, secrets_may_be_missing=is_missing_allowed)
    if errors := review.errors or cycle_problems(row.slug, row.manifest, row.pk):
        return errors
    if errors := [*skill_problems(circumstances.skills or {})]:
        return errors
    is_other_owner, files = added_files(row)
    return () if is_other_owner else files


def draft_problems(draft: ApplicationDraft) -> Sequence[Problem]:
    """Return the reasons why the draft cannot be published. The draft can still be saved."""
    return manifest_problems(with_draft(draft), Circumstances(skills=draft.skills))


def added_files(application: Application) -> tuple[bool, list[Problem]]:
    """Return two values: whether the owner changes, and the errors about attached files. It is an
    error for another user to attach a file that belongs to the application's owner. Each error has
    the path of the file's URL in the manifest.
    """
    actor, owner = current_actor().user, application.owner_id
    if actor is None or owner is None or actor.pk == owner:  # Commands have all permissions.
        return False, []
    named = owner_files(owner, application.manifest)
    stored = Application.objects.filter(pk=application.pk).first() if named else None
    if stored is None or stored.owner_id != owner:
        return True, problems_of(named)
    known = owner_files(owner, stored.manifest)
    return False, problems_of({url: path for url, path in named.items() if url not in known})


def owner_files(owner: int, manifest: Any) -> Mapping[str, str]:
    """Find the owner's files and folders in a manifest. Map each URL to its manifest path."""
    try:
        contexts = read_manifest(
            manifest,
            preview=settings.ENABLE_PREVIEW_FEATURES,
            default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        ).contexts
    except ManifestInvalid:
        return {}
    own = tuple(f"files/{bucket}/" for bucket in buckets_of(bucket_of(owner)))
    places = {
        locate_file(context.url).address: f"contexts[{number}].url"
        for number, context in enumerate(contexts)
        if isinstance(context, FileContext | FolderContext)
    }
    return {address: path for address, path in places.items() if address.startswith(own)}


def problems_of(named: Mapping[str, str]) -> list[Problem]:
    return [
        Problem(path, f"{address} belongs to the owner of the application. {ADVICE}")
        for address, path in named.items()
    ]
