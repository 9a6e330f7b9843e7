"""Opens, shares and closes sessions with MCP servers, and asks users on behalf of the servers."""
