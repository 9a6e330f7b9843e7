"""Sessions with MCP servers: endpoints, transports, the pool, server lists and elicitations."""
