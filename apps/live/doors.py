"""Defines the names and labels of the doors through which clients request runs. The name of the
door is stored with each run.
"""

PAGE = "page"
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
    PAGE: "chat page",
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
"""Maps doors to the labels that operators see."""
PATHS = {GATEWAY: ("/openai/", "/v1/"), MCP: ("/mcp",), A2A: ("/a2a/",), AG_UI: ("/ag-ui/",)}
"""Maps doors to the path prefixes of their API requests. Metrics count each door's requests
separately. Pages of other origins can call these paths if the operator allows the origins.
"""
KEPT_DOORS = (PAGE, SCHEDULE, WEBHOOK, A2A)
"""The doors whose runs are stored as answers in conversations."""


def choices() -> list[tuple[str, str]]:
    return [*LABELS.items()]
