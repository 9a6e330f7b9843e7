"""What a new application can be made from: nothing, an example, another application, a file.

The one module of the studio that knows how new applications are stored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Case, When

from apps.catalog.content.installed import installed
from apps.catalog.file_kinds import KINDS
from apps.catalog.json_text import JSONTextInvalid, parse
from apps.catalog.models import Application, empty_manifest
from apps.catalog.row_files import ContentFile, ContentInvalid, read_file
from apps.catalog.versions.drafts import new_application
from apps.workspace.local.deployment import Deployment

LARGEST_FILE = 2 * 1024 * 1024


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


def examples() -> Iterator[ContentFile]:
    """Those of the predefined content's directories. A file that cannot be read is no example."""
    kind = next(one for one in KINDS if one.name == "application")
    found = {}
    for layer in installed().layers:
        for path in sorted((layer / kind.name).glob("*.json")):
            try:
                item = read_file(kind, path)
            except ContentInvalid:
                continue
            found[item.key] = item
    yield from found.values()


def example(key: str) -> Beginning:
    """Raises LookupError."""
    item = next((one for one in examples() if one.key == key), None)
    if item is None:
        raise LookupError(key)
    return Beginning(item.fields["title"], item.fields["description"], item.fields["manifest"])


def copy_of(original: Application) -> Beginning:
    return Beginning(f"{original.title} (copy)", original.description, original.manifest)


def from_file(content: bytes) -> Beginning:
    """An exported application, or a manifest alone. Raises ValidationError."""
    if len(content) > LARGEST_FILE:
        raise ValidationError("The file is too large for an application.")
    try:
        document = parse(content.decode())
    except (JSONTextInvalid, UnicodeDecodeError) as error:
        raise ValidationError(f"The file cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise ValidationError("The file has to hold a JSON object.")
    if "manifest" not in document:
        return Beginning(manifest=document)
    return Beginning(
        str(document.get("title") or ""),
        str(document.get("description") or ""),
        document["manifest"],
    )


def make(title: str, slug: str, beginning: Beginning, owner: Any) -> Application:
    """Store a new application, which has nothing but a draft. Raises ValidationError."""
    row = Application(
        title=title,
        slug=slug,
        description=beginning.description,
        manifest=beginning.manifest,
        owner=owner,
    )
    new_application(row, owner)
    return row
