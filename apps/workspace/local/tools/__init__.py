"""Stores MCP servers, users' accounts on them, and the pinned descriptions of their tools."""
