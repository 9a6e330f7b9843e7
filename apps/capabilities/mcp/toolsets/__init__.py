"""Reads the MCP toolsets of manifests, binds them to runs, and checks their pinned descriptions."""
