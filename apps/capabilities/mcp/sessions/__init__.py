"""Opens, shares and closes sessions with MCP servers, and passes server questions to users."""
