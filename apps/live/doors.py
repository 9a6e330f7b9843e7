"""The doors through which runs are requested: a name, which is stored with each run, and its label."""

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
"""Operators see these labels of doors."""
PATHS = {GATEWAY: ("/openai/", "/v1/"), MCP: ("/mcp",), A2A: ("/a2a/",), AG_UI: ("/ag-ui/",)}
"""Requests of programs belong to these doors by the prefix of the path.

Metrics count each door's requests separately. Pages of other origins can call these paths if the
operator allows the origins.
"""
KEPT_DOORS = (PAGE, SCHEDULE, WEBHOOK, A2A)
"""The runs of these doors answer in stored conversations."""


def choices() -> list[tuple[str, str]]:
    return [*LABELS.items()]
