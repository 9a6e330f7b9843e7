"""Sessions with MCP servers: endpoints, transports, the pool, and what a server lists and asks."""
