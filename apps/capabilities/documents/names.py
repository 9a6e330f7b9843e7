"""Defines two sets of names for the document tools. Each application uses one of them."""

from dataclasses import dataclass

FILE_URL = "file_url"
FILE_URLS = "file_urls"


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of both document tools and of their parameters."""

    extraction: str
    page: str
    answer: str
    request: str
    takes_one_file: bool
    """True if the answer tool also has the parameter `file_url`."""


USUAL = ToolNames("file_content_extraction_tool", "page", "rag_tool", "request", True)
SOURCE = ToolNames("extract_file_content", "page_number", "rag_search", "query", False)
"""Alternative names of the document tools, which older prompts expect."""
