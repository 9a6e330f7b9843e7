"""Defines the doors: the chat page, the studio, APIs and triggers that start runs. Each run stores
its door's name.
"""

from apps.insights import meter

PAGE = "page"
STUDIO = meter.STUDIO
GATEWAY = "gateway"
CORE = "core"
RESPONSES = "responses"
MESSAGES = "messages"
MCP = "mcp"
A2A = "a2a"
AG_UI = "ag-ui"
SCHEDULE = "schedule"
WEBHOOK = "webhook"
LABELS = {
    PAGE: "Chat page",
    STUDIO: "Studio",
    GATEWAY: "Gateway",
    CORE: "DIAL Core",
    RESPONSES: "Responses API",
    MESSAGES: "Messages API",
    MCP: "MCP server",
    A2A: "A2A",
    AG_UI: "AG-UI",
    SCHEDULE: "Schedule",
    WEBHOOK: "Webhook",
}
"""The door names that operators see."""
PATHS = {GATEWAY: ("/openai/", "/v1/"), MCP: ("/mcp",), A2A: ("/a2a/",), AG_UI: ("/ag-ui/",)}
"""Maps doors to the path prefixes of their APIs. Metrics count requests by door, and an operator
can allow cross-origin requests to these paths.
"""
STORED_DOORS = (PAGE, SCHEDULE, WEBHOOK, A2A)
"""The doors whose runs are stored as answers in conversations."""


def choices() -> list[tuple[str, str]]:
    return [*LABELS.items()]
