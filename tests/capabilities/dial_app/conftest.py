from tests.capabilities.mcp.conftest import http_url

__all__ = ["http_url"]
