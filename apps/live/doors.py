"""Defines the doors, which are the APIs and pages through which runs are started. The name of its
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
"""The labels of doors that operators see."""
PATHS = {GATEWAY: ("/openai/", "/v1/"), MCP: ("/mcp",), A2A: ("/a2a/",), AG_UI: ("/ag-ui/",)}
"""The path prefixes of the doors' API requests. Metrics count the requests of each door. Other
origins can call these paths if the operator allows them.
"""
KEPT_DOORS = (PAGE, SCHEDULE, WEBHOOK, A2A)
"""The doors whose runs are stored as answers in conversations."""


def choices() -> list[tuple[str, str]]:
    return [*LABELS.items()]
