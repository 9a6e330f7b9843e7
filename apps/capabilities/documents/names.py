"""The names of the tools and of their parameters, of which applications choose one of two sets."""

from dataclasses import dataclass

FILE_URL = "file_url"
FILE_URLS = "file_urls"


@dataclass(frozen=True, slots=True)
class ToolNames:
    """`page`, `request`: parameters. `takes_one_file`: the second tool has `file_url` as well."""

    extraction: str
    page: str
    answer: str
    request: str
    takes_one_file: bool


USUAL = ToolNames("file_content_extraction_tool", "page", "rag_tool", "request", True)
SOURCE = ToolNames("extract_file_content", "page_number", "rag_search", "query", False)
"""As in the documentation of the agent that the tools come from."""
