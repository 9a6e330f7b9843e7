"""Messages of MCP servers, repaired, limited and redacted before the SDK parses them."""
