"""The tool that reads the text of a document, page by page of the tool's own pages."""

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.documents.document_reader import open_document
from apps.capabilities.documents.names import FILE_URL, ToolNames
from apps.capabilities.registry import Opening
from apps.capabilities.wrappers.internal import show_result
from apps.capabilities.wrappers.texts import STAGE_CHARACTERS, shortened
from apps.errors import InvalidParameter

PAGE_CHARACTERS = 10_000
"""Of the text in one answer, about 2,500 tokens."""


async def extract_text(names: ToolNames, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`, and `ServiceFailed` when the file cannot be reached."""
    arguments = invocation.arguments
    document = await open_document(opening, FILE_URL, str(arguments[FILE_URL]), invocation.stage)
    text = document.text.text
    page = max(int(arguments.get(names.page) or 1), 1)
    total = max(-(-len(text) // PAGE_CHARACTERS), 1)
    if page > total:
        pages = "1 page" if total == 1 else f"{total} pages"
        problem = f"{document.name!r} has {pages} of {PAGE_CHARACTERS:,} characters."
        raise InvalidParameter(names.page, problem)
    content = text[(page - 1) * PAGE_CHARACTERS : page * PAGE_CHARACTERS]
    if total > 1:
        content += footer(page, total)
    content = content or f"{document.name!r} has no text."
    show_result(invocation, shortened(content, STAGE_CHARACTERS))
    return ToolResult(content)


def footer(page: int, total: int) -> str:
    return f"\n\n---\nPage {page} of {total}"
