"""Why a document cannot be read."""

from __future__ import annotations


class Unreadable(Exception):
    """The text continues a sentence that names the document: "it is …"."""
