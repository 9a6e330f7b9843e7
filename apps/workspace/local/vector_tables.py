"""After each migration, prepares the tables whose vectors PostgreSQL compares."""

from typing import Any

from apps.workspace.local.corpora.corpus import CorpusChunk
from apps.workspace.local.memories.remembered import StoredMemory
from apps.workspace.local.pgvector import fill_column, prepare_column


def prepare_tables(sender: object, using: str, **kwargs: Any) -> None:
    """Add the vector columns if pgvector is installed, and fill the memories' column. Vectors of
    small corpora are not copied.
    """
    prepare_column(CorpusChunk, using)
    if prepare_column(StoredMemory, using):
        fill_column(StoredMemory._default_manager.using(using))
