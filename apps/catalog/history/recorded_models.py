"""Lists the models whose changes are recorded, and takes snapshots of their rows.

A snapshot is JSON by column: `{"title": "Travel", "manifest": {…}, "owner": "anna"}`. A mask,
`{"$hidden": "…"}`, replaces each credential.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models

from apps.catalog.credentials.masking import mask_credentials, masked_text, seal
from apps.catalog.models import Application, ContentItem
from apps.manifest.json_text import JSONTextInvalid, parse_json
from apps.manifest.secrets import HIDDEN
from apps.workspace.local.models import (
    PUBLIC,
    Deployment,
    McpServer,
    Secret,
    SharedFile,
    StoredFile,
)
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.model_capabilities import CAPABILITIES

Snapshot = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowKind:
    """A model whose changes are recorded."""

    model: type[models.Model]
    columns: tuple[str, ...]
    documents: tuple[str, ...] = ()
    """JSON columns that can contain credentials."""
    secrets: tuple[str, ...] = ()
    """Encrypted columns."""
    people: tuple[str, ...] = ()
    """Columns that refer to users."""
    json_text: str = ""
    """A text column that contains JSON if the row's `kind` is in `DOCUMENTS`."""
    restorable: bool = True
    senders: tuple[type[models.Model], ...] = ()
    """The models whose signals are recorded. If empty, only the signals of `model` are."""
    is_meant: Callable[[Any], bool] = lambda row: True
    """Returns True for the rows whose changes are recorded."""

    @property
    def label(self) -> str:
        return str(self.model._meta.label_lower)

    def snapshot(self, row: models.Model) -> Snapshot:
        return {column: self.value(row, column) for column in self.columns}

    def value(self, row: models.Model, column: str) -> Any:
        value = getattr(row, column)
        if column in self.secrets:
            return hide_secret(value)
        if column in self.documents:
            return mask_credentials(value)
        if column in self.people:
            return None if value is None else value.get_username()
        if column == self.json_text and has_document(row.__dict__):
            return masked_text(value)
        if isinstance(value, Decimal | date):
            return str(value)
        # Forms send \r\n; API clients and files send \n.
        return value.replace("\r\n", "\n") if isinstance(value, str) else value

    def readable(self, snapshot: Snapshot) -> Snapshot:
        """Decode the JSON text in a snapshot, and restore the order of `columns`, which PostgreSQL
        does not preserve.
        """
        snapshot = {name: snapshot[name] for name in self.columns if name in snapshot} | snapshot
        if not self.json_text or not has_document(snapshot):
            return snapshot
        try:
            return {**snapshot, self.json_text: parse_json(snapshot[self.json_text])}
        except JSONTextInvalid:
            return snapshot


DOCUMENTS = frozenset({"tool", "toolset"})


def has_document(columns: Mapping[str, Any]) -> bool:
    return columns.get("kind") in DOCUMENTS


def hide_secret(secret: str) -> Any:
    text = secret.encrypted if isinstance(secret, UnreadableSecret) else secret
    return {HIDDEN: seal(text, settings.SECRET_KEY)} if text else ""


KINDS = (
    RowKind(
        Application,
        (
            "title",
            "slug",
            "description",
            "icon",
            "manifest",
            "is_enabled",
            "is_public",
            "is_shared",
            "needs_second_publisher",
            "owner",
        ),
        documents=("manifest",),
        people=("owner",),
    ),
    RowKind(ContentItem, ("kind", "name", "text", "files"), json_text="text"),
    RowKind(
        Deployment,
        (
            "deployment_id",
            "display_name",
            "description",
            "kind",
            "provider",
            "base_url",
            "model_name",
            "api_key",
            "api_key_env",
            "features",
            "input_attachment_types",
            "text_tools",
            *CAPABILITIES,
            "parameters",
            "fallbacks",
            "is_enabled",
        ),
        documents=("features", "parameters"),
        secrets=("api_key",),
    ),
    RowKind(
        McpServer,
        ("name", "command", "arguments", "environment", "working_directory", "is_enabled"),
        secrets=("environment",),
    ),
    RowKind(
        Secret,
        ("name", "value", "is_in_vault", "description", "servers", "is_for_any_server"),
        secrets=("value",),
    ),
    RowKind(
        SharedFile,
        ("name", "content_type", "size", "etag"),
        restorable=False,  # The content of the file is deleted, so it cannot be restored.
        senders=(SharedFile, StoredFile),
        is_meant=lambda file: file.bucket == PUBLIC,
    ),
)

BY_SENDER: dict[type[models.Model], RowKind] = {}


def row_kind(model: type[models.Model]) -> RowKind:
    return BY_SENDER[model]
