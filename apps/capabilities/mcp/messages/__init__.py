"""Repairs, limits and redacts the messages of MCP servers before the SDK parses them."""
