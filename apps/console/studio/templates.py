"""Creates drafts from templates, including the template's tools and files."""

import mimetypes
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from django.core.exceptions import ValidationError
from django.core.files.base import ContentFile
from django.db import transaction

from apps.catalog.actions import save_draft
from apps.catalog.application_files.templates import FILES, OPENAPI, Template, objects
from apps.catalog.application_uploads import store_upload
from apps.catalog.models import Application
from apps.console.studio.beginnings import first_model, make_of_file
from apps.console.studio.tool_sources.openapi import read_service
from apps.console.studio.tool_sources.source_texts import SourceInvalid, read_source

UNKNOWN_TYPE = "application/octet-stream"
DEMO_MODEL = {"deployment_id": "demo-model"}


@transaction.atomic
def make_of_template(template: Template, title: str, slug: str, owner: Any) -> Application:
    """Store a draft from the template, with its skills, test cases and files. Raises
    `ValidationError` if the template is invalid.
    """
    manifest = {**template.item.fields["manifest"], "contexts": []}
    manifest["tool_sets"] = [
        with_operations(template, one) for one in objects(manifest.get("tool_sets"))
    ]
    orchestrator = manifest.get("orchestrator")
    if isinstance(orchestrator, dict) and orchestrator.get("deployment") == DEMO_MODEL:
        manifest["orchestrator"] = {**orchestrator, "deployment": first_model()}
    item = replace(template.item, fields={**template.item.fields, "manifest": manifest})
    row = make_of_file(item, title, slug, owner)
    if contexts := contexts_of(template, row):
        save_draft.execute(row, {"manifest": {**manifest, "contexts": contexts}}, None, owner)
    return row


def with_operations(template: Template, toolset: Mapping[str, Any]) -> dict[str, Any]:
    """Return the toolset. If it refers to the template's OpenAPI document, replace the reference
    with one tool for each operation in the document.
    """
    if toolset.get("tools") != OPENAPI or OPENAPI not in template.files:
        return dict(toolset)
    try:
        service = read_service(read_source(template.files[OPENAPI].decode()))
    except (SourceInvalid, UnicodeDecodeError) as error:
        raise ValidationError(f"{template.name}/{OPENAPI}: {error}") from error
    return {**toolset, "tools": [one.tool for one in service.operations if one.tool]}


def contexts_of(template: Template, row: Application) -> list[dict[str, Any]]:
    """Store the template's files for the application. Return the template's contexts, with the
    paths of the stored files as URLs.
    """
    paths = {
        name: store_upload(
            row,
            PurePosixPath(name).name,
            ContentFile(content),
            mimetypes.guess_type(name)[0] or UNKNOWN_TYPE,
        ).path
        for name, content in template.files.items()
        if name.startswith(FILES)
    }
    written = objects(template.item.fields["manifest"].get("contexts"))
    return [
        {**one, "url": paths[one["url"]]} if one.get("url") in paths else dict(one)
        for one in written
    ]
