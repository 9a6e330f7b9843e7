"""Creates new applications from an empty draft, another application, or a file."""

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Case, When

from apps.accounts.caller import Caller
from apps.catalog.actions import create
from apps.catalog.application_files.row_files import ContentFile, ContentInvalid
from apps.catalog.application_files.starts import application_from_upload, new_from_file
from apps.catalog.application_uploads import copy_uploads
from apps.catalog.icons.values import free_colour, tile_of
from apps.catalog.models import Application, empty_manifest
from apps.catalog.versions.definitions import definition_of
from apps.catalog.versions.drafts import draft_of
from apps.workspace.local.deployments.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Beginning:
    """The initial content of a new application's draft."""

    title: str = ""
    description: str = ""
    manifest: Any = None
    icon: str = ""


def empty() -> Beginning:
    """Return an empty draft with the installation's default model. If there is no default, the
    draft has the first model, or the demo model if there is no other.
    """
    return Beginning(manifest={**empty_manifest(), "orchestrator": {"deployment": first_model()}})


def first_model() -> dict[str, str]:
    if settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID:
        return {"deployment_id": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID}
    is_demo = Case(When(provider=Deployment.Provider.DEMO, then=1), default=0)
    rows = Deployment.objects.filter(is_enabled=True, kind=Deployment.Kind.CHAT)
    found = rows.order_by(is_demo, "pk").first()
    return {"deployment_id": found.deployment_id if found else "demo-model"}


def copy_of(original: Application) -> Beginning:
    """Copy the live version of an application or, if it was never published, its draft."""
    source = original if original.live_number else draft_of(original)
    written = definition_of(source).columns
    return Beginning(**{**written, "title": f"{source.title} (copy)"})


def make_copy(
    title: str, slug: str, original: Application, owner: Any, caller: Caller
) -> Application:
    """Store a copy of an application and its uploaded files, as a draft. Raises `ValidationError`
    if the slug or title is invalid.
    """
    row = make(title, slug, copy_of(original), owner)
    copy_uploads(original, row, caller)
    return row


def make_of_file(item: ContentFile, title: str, slug: str, owner: Any) -> Application:
    """Store an application from a template or an uploaded file as a draft, with its skills and test
    cases. Raises `ValidationError` if the file is invalid.
    """
    item = replace(item, fields={**item.fields, "title": title})
    try:
        return new_from_file(item, owner, slug=slug, as_draft=True)
    except ContentInvalid as error:
        raise ValidationError(list(error.problems)) from error


def sent_file(name: str, content: bytes) -> ContentFile:
    """Parse an uploaded ZIP, YAML or JSON file. Raises `ValidationError` if it is invalid."""
    try:
        return application_from_upload(name, content)
    except ContentInvalid as error:
        raise ValidationError(list(error.problems)) from error


def colour_for(title: str, slug: str) -> str:
    """Return a color as the icon for a new application. Prefer a color that no other application
    with the same initials has.
    """
    named = Application.objects.filter(archived_at=None).values_list("title", "slug", "icon")
    return free_colour(title, slug, [tile_of(*one) for one in named])


def make(title: str, slug: str, beginning: Beginning, owner: Any) -> Application:
    """Store a new application with only a draft. Raises `ValidationError` if the slug or title is
    invalid.
    """
    row = Application(
        title=title,
        slug=slug,
        description=beginning.description,
        manifest=beginning.manifest,
        icon=beginning.icon or colour_for(title, slug),
        owner=owner,
    )
    create.execute(row, owner)
    return row
