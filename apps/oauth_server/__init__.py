"""Serves OAuth 2.1 for MCP clients, so that users can let programs act for them.

allauth's OpenID provider checks requests, and stores codes and tokens. This package serves the part
of the provider that MCP needs, and adds MCP's own checks.
"""
