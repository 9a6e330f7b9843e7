"""Sessions with MCP servers, with their endpoints, transports, pool, lists and elicitations."""
