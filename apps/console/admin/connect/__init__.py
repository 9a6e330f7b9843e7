"""Registers the admin pages for deployments, prices, MCP servers, secrets and shared files."""
