"""Defines two sets of names for the document tools and their parameters. Applications choose one of
them.
"""

from dataclasses import dataclass

FILE_URL = "file_url"
FILE_URLS = "file_urls"


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of both document tools, and of their parameters `page` and `request`.
    `takes_one_file` means that the second tool also has the parameter `file_url`.
    """

    extraction: str
    page: str
    answer: str
    request: str
    takes_one_file: bool


USUAL = ToolNames("file_content_extraction_tool", "page", "rag_tool", "request", True)
SOURCE = ToolNames("extract_file_content", "page_number", "rag_search", "query", False)
"""The names that another agent uses for its document tools, for applications that expect them."""
