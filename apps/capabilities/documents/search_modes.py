"""How documents are searched, in words for people and models."""

from collections import Counter
from collections.abc import Iterator, Sequence

from apps.agent.stages import Stage
from apps.capabilities.documents.index import DocumentIndex
from apps.workspace.corpora import AttachedDocument


def write_modes(stage: Stage, documents: Sequence[DocumentIndex]) -> None:
    """Say of each document how it is searched, and what of it cannot be."""
    for document in documents:
        stage.write(
            f"- {'; '.join((f'{document.name}: {search_mode(document)}', *gaps(document)))}\n"
        )
    stage.write("\n")


def gaps(document: DocumentIndex) -> Iterator[str]:
    """What is missing in the text of a document."""
    text = document.text
    missing = sum(not page.text for page in text.pages)
    if missing and text.noun:
        yield f"without text are {missing} of {len(text.pages)} {text.noun}s"
    yield from text.failures
    if text.notice:
        yield text.notice


def search_mode(document: DocumentIndex) -> str:
    vectors, count = document.vectors, len(document.chunks)
    if not count:
        return "it has no text"
    if vectors.count == count:
        return "searched by words and by meaning"
    if vectors.problem:
        return f"searched by words; {vectors.problem}"
    if vectors.count:
        share = f"{100 * vectors.count // count} %"
        return f"searched by words, and {share} of it by meaning; the rest is being prepared"
    return "searched by words; the search by meaning is being prepared"


def listed(documents: Sequence[DocumentIndex]) -> str:
    return ", ".join(repr(document.name) for document in documents)


def summary(documents: Sequence[AttachedDocument]) -> str:
    """How many attached files are searched, and how: on one line, as there may be hundreds."""
    counts = Counter(map(attached_mode, documents))
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def attached_mode(document: AttachedDocument) -> str:
    if document.is_searchable:
        is_whole = document.vectors == document.chunks
        return f"searched by words{' and by meaning' if is_whole else ''}"
    return "cannot be read" if document.state == "failed" else "being prepared"
