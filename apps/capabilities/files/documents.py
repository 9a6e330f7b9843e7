"""The text of files of any type, kept for a run, and the file tool that reads lines of it."""

import hashlib
from dataclasses import dataclass, field

from apps.agent.tools import ToolResult
from apps.capabilities.files.context import Arguments, FileContext, counted, text_result
from apps.capabilities.files.paths import check_file, full_path, shown_path
from apps.capabilities.registry import Key
from apps.documents.document import Document
from apps.documents.pages import Unreadable
from apps.errors import InvalidParameter
from apps.workspace.loading.files import Loaded, document_bounds

KEPT = 16_000_000
"""Size of all documents that a run keeps: characters of text, and bytes of a document that is not
read to its end. The newest document is kept whatever its size."""
MOST_CHARACTERS = 100_000
"""Of one call, about 25,000 tokens."""


@dataclass(slots=True)
class RunDocumentCache:
    """Documents by a hash of their content; the least recently used are dropped."""

    kept: dict[str, Document] = field(default_factory=dict)

    def get(self, file: Loaded, owner: str) -> Document:
        key = f"{hashlib.sha256(file.content).hexdigest()} {file.type} {file.name}"
        found = self.kept.pop(key, None)
        if found is None:
            found = Document(file.content, file.name, file.type, document_bounds(owner))
        self.kept[key] = found
        return found

    def drop_oldest(self) -> None:
        used = sum(document.size for document in self.kept.values())
        while used > KEPT and len(self.kept) > 1:
            used -= self.kept.pop(next(iter(self.kept))).size


DOCUMENTS = Key[RunDocumentCache]("file_documents")


async def document_of(
    context: FileContext, parameter: str, path: str, *, until: int | None = None
) -> Document:
    """A document read up to line `until`, or its end, as far as time allows.

    Raises `InvalidParameter`.
    """
    file = await context.load(parameter, path)
    cache = context.opening.known.get_or_make(DOCUMENTS, RunDocumentCache)
    document = cache.get(file, context.opening.caller.bucket)
    try:
        await document.until(until)
    except Unreadable as error:
        raise InvalidParameter(parameter, f"{file.name!r} cannot be read: {error}") from error
    finally:
        cache.drop_oldest()
    return document


async def read_lines(context: FileContext, arguments: Arguments) -> ToolResult:
    path, start, end = arguments["path"], arguments["start_line"], arguments["end_line"]
    check_file("path", path)
    if start < 0:
        raise InvalidParameter("start_line", "lines are counted from 0.")
    if end <= start:
        raise InvalidParameter("end_line", "it is the line after the last, so above start_line.")
    home = await context.home()
    place = full_path(home, path)
    document = await document_of(context, "path", place, until=end)
    name, count = shown_path(home, place), len(document.lines)
    if start < count:
        return text_result(excerpt(name, document, start, min(end, count)))
    if not document.is_complete:
        so_far = f"so far there are {counted(count, 'line')}, {progress(document)}"
        return text_result(f"{name}: {so_far}.")
    if not count:
        return text_result(f"{name} is empty.")
    raise InvalidParameter("start_line", f"{name} has {counted(count, 'line')}.")


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
    more = [f"… (cut: go on with start_line={after})"] if after < end else []
    return "\n".join((head, *shown, *more))


def line_count(document: Document) -> str:
    count = f"{len(document.lines):,}"
    return count if document.is_complete else f"at least {count} ({progress(document)})"


def progress(document: Document) -> str:
    return f"{document.pages:,} of {document.total:,} pages are read; later lines read on"
