"""Access tokens with which MCP clients act for users. allauth issues them and stores their hashes."""
