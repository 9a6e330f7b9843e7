"""Starting points for a new application: an example, or uploaded files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions import create
from apps.catalog.actions.save_rules import Circumstances, check_row
from apps.catalog.application_files.archives import applications_in, unpack_archive
from apps.catalog.application_files.document import DOCUMENT_FILE
from apps.catalog.application_files.file_kinds import APPLICATION
from apps.catalog.application_files.folders import FilesRefused, check_file_size, read_folder
from apps.catalog.application_files.reader import decode_text, read_application
from apps.catalog.application_files.row_directories import application_folders
from apps.catalog.application_files.row_files import (
    ContentFile,
    ContentInvalid,
    read_content_file,
    read_json,
)
from apps.catalog.application_files.row_import import (
    case_problems_of,
    save_parts,
    validation_problems,
)
from apps.catalog.content.installed import directories
from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live

EXAMPLES = Path(__file__).parent / "examples"
ZIPPED = b"PK"


@dataclass(frozen=True, slots=True)
class Example:
    """An example application. `description` is one line."""

    slug: str
    title: str
    description: str


def examples() -> list[Example]:
    """Return the built-in examples, then the applications of all layers of predefined content."""
    return [
        Example(item.key, str(item.fields["title"]), str(item.fields["description"]))
        for item in example_files(directories()).values()
    ]


def example_named(slug: str) -> ContentFile | None:
    return example_files(directories()).get(slug)


@lru_cache(maxsize=4)
def example_files(layers: tuple[Path, ...]) -> dict[str, ContentFile]:
    """Return the examples by slug. Files that cannot be read are skipped, because the import
    reports them.
    """
    found: dict[str, ContentFile] = {}
    for folder in sorted(EXAMPLES.iterdir()):
        found[folder.name] = read_application(folder.name, read_folder(folder, EXAMPLES))
    for layer in layers:
        for path in sorted((layer / APPLICATION.name).glob("*.json")):
            try:
                item = read_content_file(APPLICATION, path)
            except ContentInvalid:
                continue
            found[item.key] = item
        for folder in application_folders(layer):
            try:
                found[folder.name] = read_application(folder.name, read_folder(folder, layer))
            except (ContentInvalid, FilesRefused, OSError):
                continue
    return found


# --- Uploaded files ------------------------------------------------------------------


def application_from_files(files: Mapping[str, bytes], name: str = "") -> ContentFile:
    """Return the only application in the files. `name` is its slug if no folder sets one.

    Raises `ContentInvalid`.
    """
    try:
        found = applications_in(files, name)
    except FilesRefused as error:
        raise ContentInvalid((str(error),)) from error
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise ContentInvalid(
            (f"the file contains {len(found)} applications: {names}. Send only one.",)
        )
    [(slug, beside)] = found.items()
    return read_application(slug, beside)


def application_from_upload(name: str, content: bytes) -> ContentFile:
    """Return the application in an upload: a ZIP, an `application.yaml` or a JSON file.

    Raises `ContentInvalid`.
    """
    path = PurePosixPath(name)
    slug = path.stem if path.stem.replace("-", "").isalnum() else "application"
    try:
        if content.startswith(ZIPPED):
            return application_from_files(unpack_archive(content), slug)
        check_file_size(path.name, len(content))
        if path.suffix.lower() == ".json":
            return read_json(APPLICATION, path.name, slug, decode_text(content))
    except (FilesRefused, ValueError) as error:
        raise ContentInvalid((str(error),)) from error
    return application_from_files({DOCUMENT_FILE: content}, slug)


def new_from_file(
    item: ContentFile, user: Any, *, slug: str = "", as_draft: bool = False
) -> Application:
    """Create an application of the user with all parts of the files.

    With `as_draft`, the application has only a draft. If `ContentInvalid` is raised, nothing is
    saved.
    """
    item = replace(item, key=slug or item.key)
    row = Application(slug=item.key, owner=user, **item.fields)
    skills = item.parts.skills if item.parts is not None else {}
    if refused := forbidden_credentials(row.manifest, user):
        raise ContentInvalid(tuple(f"{item.file}: manifest.{one}" for one in refused))
    try:
        with transaction.atomic():
            # Equal secrets may exist in another installation.
            check_row(row, Circumstances(skills=skills, secrets_may_be_missing=True))
            if as_draft:
                create.execute(row, user)
            else:
                row.manifest = extract(row.manifest, user=user).document
                save_live(row, skills=skills)
            save_parts(item, row)
            if problems := case_problems_of(item, row, overwrite=False):
                raise ContentInvalid(tuple(problems))
    except ValidationError as error:
        raise ContentInvalid(tuple(validation_problems(item, error))) from error
    return row
