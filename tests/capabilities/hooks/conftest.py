from tests.capabilities.mcp.conftest import http_url, loopback_may_be_contacted

__all__ = ["http_url", "loopback_may_be_contacted"]
