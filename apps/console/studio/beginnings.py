"""What a new application can be made from: nothing, an example, another application, a file.

The one module of the studio that knows how new applications are stored.
"""

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Case, When

from apps.catalog.application_files.starts import application_from_upload, new_from_file
from apps.catalog.icons.tiles import free_colour, tile_of
from apps.catalog.models import Application, empty_manifest
from apps.catalog.row_files import ContentFile, ContentInvalid
from apps.catalog.versions.drafts import new_application
from apps.workspace.local.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Beginning:
    """The draft of a new application, before it has a name of its own."""

    title: str = ""
    description: str = ""
    manifest: Any = None


def empty() -> Beginning:
    """With the model that answers most likely: the installation's own, else the first real one."""
    return Beginning(manifest={**empty_manifest(), "orchestrator": {"deployment": first_model()}})


def first_model() -> dict[str, str]:
    if settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID:
        return {"deployment_id": settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID}
    is_demo = Case(When(provider=Deployment.Provider.DEMO, then=1), default=0)
    rows = Deployment.objects.filter(is_enabled=True, kind=Deployment.Kind.CHAT)
    found = rows.order_by(is_demo, "pk").first()
    return {"deployment_id": found.deployment_id if found else "demo-model"}


def copy_of(original: Application) -> Beginning:
    return Beginning(f"{original.title} (copy)", original.description, original.manifest)


def make_of_file(item: ContentFile, title: str, slug: str, owner: Any) -> Application:
    """Store a draft of an example or a sent file, with its skills and cases. Raises ValidationError."""
    item = replace(item, fields={**item.fields, "title": title})
    try:
        return new_from_file(item, owner, slug=slug, as_draft=True)
    except ContentInvalid as error:
        raise ValidationError(list(error.problems)) from error


def sent_file(name: str, content: bytes) -> ContentFile:
    """The application in a zip, an `application.yaml` or a JSON file. Raises ValidationError."""
    try:
        return application_from_upload(name, content)
    except ContentInvalid as error:
        raise ValidationError(list(error.problems)) from error


def colour_for(title: str, slug: str) -> str:
    """The icon of a new application: a colour of its own among those with the same letters."""
    named = Application.objects.filter(archived_at=None).values_list("title", "slug", "icon")
    return free_colour(title, slug, [tile_of(*one) for one in named])


def make(title: str, slug: str, beginning: Beginning, owner: Any) -> Application:
    """Store a new application, which has nothing but a draft. Raises ValidationError."""
    row = Application(
        title=title,
        slug=slug,
        description=beginning.description,
        manifest=beginning.manifest,
        icon=colour_for(title, slug),
        owner=owner,
    )
    new_application(row, owner)
    return row
