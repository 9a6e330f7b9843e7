"""The authorization server for MCP clients, with which users sign in to programs (OAuth 2.1).

allauth's OpenID provider checks requests and stores codes and tokens. This package serves only the
part of it that MCP needs, and adds the checks that MCP requires.
"""
