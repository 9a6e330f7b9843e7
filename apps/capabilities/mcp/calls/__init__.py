"""Calls MCP tools: passes files, asks users to sign in or to open pages, and converts the results."""
