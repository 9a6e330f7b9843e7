"""Caches the text of documents for a run, and defines the file tool that reads lines."""

import hashlib
from dataclasses import dataclass, field

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileToolContext, count_phrase, text_result
from apps.capabilities.files.paths import check_file, full_path, shown_path
from apps.capabilities.registry import Key
from apps.documents.document import Document
from apps.documents.paged_text import UnreadableDocument
from apps.errors import InvalidParameter
from apps.workspace.loading.files import LoadedFile, document_bounds

CACHE_LIMIT = 16_000_000
"""The size limit for a run's cached documents, in characters of text plus bytes of partly read
documents. The newest document is always cached.
"""
MOST_CHARACTERS = 100_000
"""One call to the tool returns up to this many characters, about 25,000 tokens."""


@dataclass(slots=True)
class RunDocumentCache:
    """Caches parsed documents by content hash, and evicts the least recently used ones."""

    documents: dict[str, Document] = field(default_factory=dict)

    def get(self, file: LoadedFile, owner: str) -> Document:
        key = f"{hashlib.sha256(file.content).hexdigest()} {file.type} {file.name}"
        found = self.documents.pop(key, None)
        if found is None:
            found = Document(file.content, file.name, file.type, document_bounds(owner))
        self.documents[key] = found
        return found

    def drop_oldest(self) -> None:
        used = sum(document.size for document in self.documents.values())
        while used > CACHE_LIMIT and len(self.documents) > 1:
            used -= self.documents.pop(next(iter(self.documents))).size


DOCUMENTS = Key[RunDocumentCache]("file_documents")


async def read_document(
    context: FileToolContext, parameter: str, path: str, *, until: int | None = None
) -> Document:
    """Parse a document up to line `until`, or until a time limit. Raises `InvalidParameter` if the
    file cannot be loaded or read.
    """
    file = await context.load(parameter, path)
    cache = context.opening.findings.get_or_make(DOCUMENTS, RunDocumentCache)
    document = cache.get(file, context.opening.caller.bucket)
    try:
        await document.until(until)
    except UnreadableDocument as error:
        raise InvalidParameter(parameter, f"{file.name!r} cannot be read: {error}") from error
    finally:
        cache.drop_oldest()
    return document


async def read_lines(context: FileToolContext, arguments: Arguments) -> ToolResult:
    path, start, end = arguments["path"], arguments["start_line"], arguments["end_line"]
    check_file("path", path)
    if start < 0:
        raise InvalidParameter("start_line", "it must be 0 or more; line numbers start at 0.")
    if end <= start:
        raise InvalidParameter(
            "end_line",
            "it must be greater than start_line; end_line is exclusive.",
        )
    home = await context.home()
    place = full_path(home, path)
    document = await read_document(context, "path", place, until=end)
    name, count = shown_path(home, place), len(document.lines)
    if start < count:
        return text_result(excerpt(name, document, start, min(end, count)))
    if not document.is_complete:
        so_far = f"so far there are {count_phrase(count, 'line')}, {progress(document)}"
        return text_result(f"{name}: {so_far}.")
    if not count:
        return text_result(f"{name} is empty.")
    raise InvalidParameter("start_line", f"{name} has {count_phrase(count, 'line')}.")


def excerpt(name: str, document: Document, start: int, end: int) -> str:
    shown: list[str] = []
    room = MOST_CHARACTERS
    for number in range(start, end):
        line = document.lines[number]
        if len(line) + 1 > room and shown:
            break
        if len(line) > room:
            line = f"{line[:room]}… (cut: {len(line) - room:,} more characters in this line)"
        shown.append(line)
        room -= len(line) + 1
    after = start + len(shown)
    head = f"{name}, lines {start} to {after - 1} of {line_count(document)}:"
    more = [f"… (cut: continue with start_line={after})"] if after < end else []
    return "\n".join((head, *shown, *more))


def line_count(document: Document) -> str:
    count = f"{len(document.lines):,}"
    return count if document.is_complete else f"at least {count} ({progress(document)})"


def progress(document: Document) -> str:
    return (
        f"{document.pages:,} of {document.total:,} pages are read; ask for later lines to read more"
    )
