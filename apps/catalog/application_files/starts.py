"""What a new application can start from: an example, or files that somebody sends."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.application_files.archives import applications_in, unpacked
from apps.catalog.application_files.document import DOCUMENT_FILE
from apps.catalog.application_files.folders import FilesRefused, check_size, read_folder
from apps.catalog.application_files.reader import read_application, text_of
from apps.catalog.content.installed import directories
from apps.catalog.extraction import extract, refusals
from apps.catalog.file_kinds import APPLICATION
from apps.catalog.models import Application
from apps.catalog.row_directories import application_folders
from apps.catalog.row_files import ContentFile, ContentInvalid, read_file, read_json
from apps.catalog.row_import import case_problems_of, save_parts, validation_problems
from apps.catalog.versions.drafts import new_application

EXAMPLES = Path(__file__).parent / "examples"
ZIPPED = b"PK"


@dataclass(frozen=True, slots=True)
class Example:
    """`description` is one line."""

    slug: str
    title: str
    description: str


def examples() -> list[Example]:
    """The examples of this product, then the applications of all layers of predefined content."""
    return [
        Example(item.key, str(item.fields["title"]), str(item.fields["description"]))
        for item in example_files(directories()).values()
    ]


def example_named(slug: str) -> ContentFile | None:
    return example_files(directories()).get(slug)


@cache
def example_files(layers: tuple[Path, ...]) -> dict[str, ContentFile]:
    """By slug; those that cannot be read are left out, and are told by the import."""
    found: dict[str, ContentFile] = {}
    for folder in sorted(EXAMPLES.iterdir()):
        found[folder.name] = read_application(folder.name, read_folder(folder, EXAMPLES))
    for layer in layers:
        for path in sorted((layer / APPLICATION.name).glob("*.json")):
            try:
                item = read_file(APPLICATION, path)
            except ContentInvalid:
                continue
            found[item.key] = item
        for folder in application_folders(layer):
            try:
                found[folder.name] = read_application(folder.name, read_folder(folder, layer))
            except (ContentInvalid, FilesRefused, OSError):
                continue
    return found


# --- Files that somebody sends ------------------------------------------------------------------


def application_from_files(files: Mapping[str, bytes], name: str = "") -> ContentFile:
    """The one application in files by their paths; `name` is its slug if no folder says it.

    Raises `ContentInvalid`.
    """
    try:
        found = applications_in(files, name)
    except FilesRefused as error:
        raise ContentInvalid((str(error),)) from error
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise ContentInvalid((f"there are {len(found)} applications: {names}; send one.",))
    [(slug, beside)] = found.items()
    return read_application(slug, beside)


def application_from_upload(name: str, content: bytes) -> ContentFile:
    """The application in a file: a zip, an `application.yaml` or a JSON file of today's form.

    Raises `ContentInvalid`.
    """
    path = PurePosixPath(name)
    slug = path.stem if path.stem.replace("-", "").isalnum() else "application"
    try:
        if content.startswith(ZIPPED):
            return application_from_files(unpacked(content), slug)
        check_size(path.name, len(content))
        if path.suffix.lower() == ".json":
            return read_json(APPLICATION, path.name, slug, text_of(content))
    except (FilesRefused, ValueError) as error:
        raise ContentInvalid((str(error),)) from error
    return application_from_files({DOCUMENT_FILE: content}, slug)


def new_from_file(
    item: ContentFile, user: Any, *, slug: str = "", as_draft: bool = False
) -> Application:
    """A new application of the user's, with all that lies beside it in the files.

    `as_draft`: it answers nobody until it is published. Raises `ContentInvalid`; nothing is saved
    then.
    """
    item = replace(item, key=slug or item.key)
    row = Application(slug=item.key, owner=user, **item.fields)
    row.secrets_may_be_missing = True  # another installation has the same ones
    row.own_skills = item.parts.skills if item.parts is not None else {}
    if refused := refusals(row.manifest, user):
        raise ContentInvalid(tuple(f"{item.file}: manifest.{one}" for one in refused))
    try:
        with transaction.atomic():
            row.full_clean()
            if as_draft:
                new_application(row, user)
            else:
                row.manifest = extract(row.manifest, user=user).document
                row.save()
            save_parts(item, row)
            if problems := case_problems_of(item, row, overwrite=False):
                raise ContentInvalid(tuple(problems))
    except ValidationError as error:
        raise ContentInvalid(tuple(validation_problems(item, error))) from error
    return row
