"""Calls of MCP tools: files, sign-in, confirmation pages, and results."""
