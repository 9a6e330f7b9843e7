"""Calls MCP tools, with files, sign-ins, confirmation pages, and results."""
