"""A call of an MCP server's tool: files, sign-in, confirmation pages, and results."""
