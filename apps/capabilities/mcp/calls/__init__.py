"""Calls MCP tools, including file arguments, sign-ins and the conversion of results."""
