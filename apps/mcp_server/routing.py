"""Routes the URLs of the MCP server to consumers."""

from django.urls import URLPattern, re_path

from apps.mcp_server.consumers import McpConsumer, ResourceMetadataConsumer

MCP = r"mcp(?:/(?P<slug>.+?))?/?$"

urlpatterns: list[URLPattern] = [
    re_path(rf"^{MCP}", McpConsumer.as_asgi()),
    re_path(
        rf"^\.well-known/oauth-protected-resource(?:/{MCP}|/?$)", ResourceMetadataConsumer.as_asgi()
    ),
]
