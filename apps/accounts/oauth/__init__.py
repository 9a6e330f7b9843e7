"""Implements OAuth access for MCP clients that act for users. allauth issues the access tokens."""
