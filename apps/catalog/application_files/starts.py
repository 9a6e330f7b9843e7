"""Creates applications from uploaded files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.catalog.actions import create
from apps.catalog.actions.save_rules import Circumstances, check_row
from apps.catalog.application_files.archives import applications_in, unpack_archive
from apps.catalog.application_files.document import DOCUMENT_FILE
from apps.catalog.application_files.file_kinds import APPLICATION
from apps.catalog.application_files.folders import FilesRefused, check_file_size
from apps.catalog.application_files.reader import decode_text, read_application
from apps.catalog.application_files.row_files import (
    ContentFile,
    ContentInvalid,
    read_json,
)
from apps.catalog.application_files.row_import import (
    case_problems_of,
    save_parts,
    validation_problems,
)
from apps.catalog.extraction import extract, forbidden_credentials
from apps.catalog.models import Application
from apps.catalog.versions.version_recorder import save_live

ZIPPED = b"PK"


def application_from_files(files: Mapping[str, bytes], name: str = "") -> ContentFile:
    """Return the only application in the files. `name` is the application's slug if the files are
    not in a folder with that name.

    Raises `ContentInvalid` if the files are invalid or contain several applications.
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
    """Return the application in an uploaded ZIP file, `application.yaml` or JSON file. `name` is
    the file name. Raises `ContentInvalid` if the file is invalid.
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
    """Create an application for the user from an uploaded file. `slug` replaces the slug in the
    file.

    With `as_draft`, the application has only a draft. Raises `ContentInvalid`, and saves nothing,
    if the file is invalid.
    """
    item = replace(item, key=slug or item.key)
    row = Application(slug=item.key, owner=user, **item.fields)
    skills = item.parts.skills if item.parts is not None else {}
    if refused := forbidden_credentials(row.manifest, user):
        raise ContentInvalid(tuple(f"{item.file}: manifest.{one}" for one in refused))
    try:
        with transaction.atomic():
            # The secrets may exist only in the installation that exported the files.
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
