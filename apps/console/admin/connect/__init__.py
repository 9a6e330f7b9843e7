"""The admin pages for the services that applications use: deployments and their prices, MCP
servers, secrets and shared files.
"""
