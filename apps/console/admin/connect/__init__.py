"""Registers the admin pages for what applications use: deployments and their prices, MCP servers,
secrets and shared files.
"""
