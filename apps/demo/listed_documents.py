"""Finds documents in a conversation: attachments of questions, and files of the operator."""

import re
from collections.abc import Sequence
from html import unescape

from apps.agent.messages import ModelMessage
from apps.demo.results import decode_json

LIST_FILES = "internal_attachments_available_context"

_file = re.compile(
    r"<type>(?P<type>[^<]*)</type>\s*<url>(?P<url>[^<]*)</url>", re.IGNORECASE | re.DOTALL
)
_documents = re.compile(r"(?i:\b(?:documents?|files?|pdf|attach\w*|pages?)\b)")


def documents_of(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the documents of the newest question. If it has none but mentions documents, return
    the documents of an earlier question.
    """
    newest, *earlier = [m.text for m in reversed(messages) if m.role == "user"] or [""]
    if found := listed_files(newest):
        return found
    return next(filter(None, map(listed_files, earlier)), []) if _documents.search(newest) else []


def operator_documents(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the documents in the newest listing of the operator's files."""
    ids = {call.id for m in messages for call in m.tool_calls if call.name == LIST_FILES}
    found = [m.text for m in messages if m.role == "tool" and m.tool_call_id in ids]
    listing = decode_json(found[-1]) if found else None
    entries = listing.get("entries") if isinstance(listing, dict) else None
    return [
        str(one["url"])
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, dict)
        and one.get("status") != "removed"
        and is_document(str(one.get("type")))
        and not str(one.get("url", "/")).endswith("/")
    ]


def is_document(media_type: str) -> bool:
    return not media_type.startswith(("image/", "audio/", "video/"))


def listed_files(text: str) -> list[str]:
    return [unescape(found["url"]) for found in _file.finditer(text) if is_document(found["type"])]
