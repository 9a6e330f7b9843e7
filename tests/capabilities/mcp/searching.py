"""A search server that reports errors as plain text, without marking them.

python searching.py http
"""

import sys

from mcp.server import MCPServer
from well_behaved import serve  # type: ignore[import-not-found]  # it is beside this script

server = MCPServer("search", log_level="CRITICAL")


@server.tool(description="Searches the web.")
def search(query: str, max_results: int = 10, region: str = "") -> str:
    if query != "harbours":
        return f"No results were found for your search query. Try another than {query}."
    return f"Found {min(max_results, 20)} results\n\n1. Error: how harbours fail"


@server.tool(description="Reads a page.")
def fetch_content(
    url: str, start_index: int = 0, max_length: int = 8000, backend: str | None = None
) -> str:
    return f"Error: Refusing to fetch {url} (it resolves to a non-public address)."


@server.tool(description="Tells a long address.")
def expand_link(token: str) -> str:
    return f"https://example.org/{token}"


if __name__ == "__main__":
    serve(server, sys.argv[1])
