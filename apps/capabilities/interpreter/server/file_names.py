"""Names of files that code made: which are taken, what is in them, and their addresses."""

import mimetypes
from urllib.parse import quote

from apps.capabilities.interpreter.engines import type_of

MOST_CHARACTERS = 200
BINARY = "application/octet-stream"


def is_file_name(name: str) -> bool:
    """Whether it is a path that leads down from the working directory, in one printable line."""
    parts = name.split("/")
    return (
        len(name) <= MOST_CHARACTERS
        and name.isprintable()
        and "\\" not in name
        and not {"", ".", ".."}.intersection(parts)
    )


def media_type(name: str) -> str:
    return type_of(name) or mimetypes.guess_type(name)[0] or BINARY


def file_uri(session_id: str, name: str) -> str:
    return f"kernel://{session_id}/{quote(name)}"
