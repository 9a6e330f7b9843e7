"""Hashes the content of imported rows.

Each row stores the hash of its last import, its stamp. If its content no longer matches the stamp,
an operator has edited the row.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from apps.catalog.application_files.row_files import ContentFile
from apps.catalog.extraction import reveal_secrets
from apps.workspace.model_capabilities import FLAGS

HALF = 32
"""The number of characters of each of the two hashes in a stamp."""
EMPTY: Sequence[object] = ("", None, False, [], {})
MEANT_NO = {*FLAGS, "is_shared"}
"""The columns in which `digest` treats False as a value. Elsewhere, it treats False as empty."""
ADDED: Mapping[str, object] = {"kind": "chat", "text_tools": True, "is_shared": True}
"""Columns that later versions added, with their defaults. The defaults are left out of the hash, so
that the hashes of older rows remain valid.
"""


def stamp(row: Any, item: ContentFile) -> str:
    """Return a hash of the row's columns, followed by a hash of the file's values. Rotating a
    secret changes neither.
    """
    return half(columns_of(row, item)) + half(item.fields)


def is_untouched(row: Any, item: ContentFile) -> bool:
    """Return True if no operator has edited the row since its last import."""
    untouched: bool = row.imported_hash[:HALF] == half(columns_of(row, item))
    return untouched


def has_same_values(row: Any, item: ContentFile) -> bool:
    """Return True if the row has the values of the file, including the credentials."""
    return digest(revealed_columns(columns_of(row, item))) == digest(revealed_columns(item.fields))


def columns_of(row: Any, item: ContentFile) -> dict[str, Any]:
    return {column: getattr(row, column) for column in item.fields}


def revealed_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {column: reveal_secrets(value) for column, value in columns.items()}


def half(fields: Mapping[str, Any]) -> str:
    return digest(fields)[:HALF]


def digest(fields: Mapping[str, Any]) -> str:
    """Return a hash of the columns that are not empty. Adding an empty column does not change the
    hash.
    """
    used = {
        column: value
        for column, value in fields.items()
        if (value not in EMPTY or (value is False and column in MEANT_NO))
        and ADDED.get(column) != value
    }
    text = json.dumps(used, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
