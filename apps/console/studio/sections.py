"""Lists the sections of the studio and the labels of their fields."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StudioSection:
    """A section of the studio."""

    title: str
    paths: tuple[str, ...] | None = None
    """The paths of the draft that the section edits, or None if it edits no part of the draft."""


SECTIONS = {
    "instructions": StudioSection(
        "Instructions", ("orchestrator.system_prompt", "(title)", "(description)", "(icon)")
    ),
    "model": StudioSection("Model", ("orchestrator.deployment",)),
    "tools": StudioSection(
        "Tools",
        (
            "tool_sets",
            "features.web_fetch",
            "features.notes",
            "features.search_conversations",
            "features.questions",
            "features.todo",
            "features.subagents",
            "features.spawn_agent",
            "features.schedules",
            "features.representation_tooling",
            "features.summary",
        ),
    ),
    "files": StudioSection(
        "Files and contexts", ("contexts", "features.documents", "features.dial_files")
    ),
    "skills": StudioSection("Skills", ("skills",)),
    "starters": StudioSection("Starters", ("conversation_starters", "starters")),
    "behaviour": StudioSection(
        "Behavior",
        (
            "features",
            "orchestrator.attachment_strategy",
            "orchestrator.tool_discovery",
            "orchestrator.client",
            "hooks",
        ),
    ),
    "general": StudioSection("General"),
    "access": StudioSection("Access"),
    "limits": StudioSection(
        "Limits",
        (
            "orchestrator.max_iterations",
            "orchestrator.context",
            "tool_defaults",
            "features.rate_limits",
            "features.retention",
            "features.file_loading",
        ),
    ),
    "versions": StudioSection("Versions"),
    "cases": StudioSection("Test cases"),
    "runs": StudioSection("Runs"),
    "usage": StudioSection("Usage"),
    "connect": StudioSection("Connect"),
    "all-fields": StudioSection("All fields", ()),
    "text": StudioSection("Text", ()),
}
"""The studio's sections by the ID in their URL. A field belongs to the section with the longest
path, or else to *All fields*.
"""
ALL_FIELDS = SECTIONS["all-fields"].title

COLUMNS = {
    "title": ("instructions", "Title"),
    "description": ("instructions", "Description"),
    "icon": ("instructions", "Icon"),
    "slug": ("general", "Name in URLs"),
    "is_enabled": ("access", "Enabled"),
    "is_public": ("access", "Everyone"),
    "is_shared": ("access", "All signed-in users"),
    "needs_second_publisher": ("access", "Published by two people"),
    "owner": ("access", "Owner"),
}
"""The sections and labels of an application's columns. Their paths in the draft have parentheses.
"""

FIELDS = {
    "contexts": "",
    "contexts[].content": "Text",
    "contexts[].description": "Description",
    "contexts[].url": "Path",
    "conversation_starters": "",
    "conversation_starters.auto_submit": "Send immediately",
    "conversation_starters.chat_message_input_disabled": "Require a starter",
    "conversation_starters.intro_text": "Introduction",
    "conversation_starters.starters": "",
    "conversation_starters.starters[].text": "Question",
    "conversation_starters.starters[].title": "Button",
    "features": "",
    "features.approval.mode": "Tool calls need approval",
    "features.dial_files": "Work with the user's files",
    "features.documents": "Search the files",
    "features.documents.results": "Passages per answer",
    "features.input_attachment_types": "Allowed file types",
    "features.memory": "Memory",
    "features.memory.prime": "Memories in the prompt",
    "features.memory.scope": "Shared with other applications",
    "features.model_keys.mode": "Keys for models",
    "features.notes": "Notes",
    "features.questions": "Questions to the user",
    "features.questions.seconds": "Timeout, in seconds",
    "features.rate_limits.requests_per_minute": "Requests per minute",
    "features.rate_limits.tokens_per_minute": "Tokens per minute",
    "features.representation_tooling": "Answers with files",
    "features.retention.days": "Days of inactivity before deletion",
    "features.schedules": "Schedules",
    "features.schedules.approval.mode": "Approval",
    "features.search_conversations": "Earlier conversations",
    "features.spawn_agent": "Predefined sub-agents",
    "features.spawn_agent.agents": "Only these sub-agents",
    "features.spawn_agent.timeout_seconds": "Timeout for each sub-agent, in seconds",
    "features.stage_display.level": "Visible tool calls",
    "features.subagents": "Sub-agents",
    "features.subagents.general_purpose": "General-purpose sub-agent",
    "features.subagents.general_purpose.deployment_id": "Model",
    "features.subagents.general_purpose.max_iterations": "Model calls for one task",
    "features.subagents.general_purpose.system_prompt": "Prompt",
    "features.subagents.timeout_seconds": "Timeout for each task, in seconds",
    "features.subagents.types": "Sub-agents",
    "features.subagents.types[].deployment_id": "Model",
    "features.subagents.types[].description": "Description",
    "features.subagents.types[].max_iterations": "Model calls for one task",
    "features.subagents.types[].name": "Name",
    "features.subagents.types[].system_prompt": "Prompt",
    "features.subagents.types[].tool_sets": "Choose its toolsets",
    "features.summary": "End with a summary",
    "features.timestamp": "Time",
    "features.todo": "To-do list",
    "features.web_fetch": "Web pages",
    "orchestrator": "",
    "orchestrator.attachment_strategy": "Show files only when the model asks for them",
    "orchestrator.context.strategy": "If a conversation exceeds the context window",
    "orchestrator.deployment": "",
    "orchestrator.deployment.deployment_id": "Deployment",
    "orchestrator.deployment.parameters.frequency_penalty": "Frequency penalty",
    "orchestrator.deployment.parameters.max_tokens": "Maximum output tokens",
    "orchestrator.deployment.parameters.presence_penalty": "Presence penalty",
    "orchestrator.deployment.parameters.reasoning_effort": "Reasoning effort",
    "orchestrator.deployment.parameters.seed": "Seed",
    "orchestrator.deployment.parameters.temperature": "Temperature",
    "orchestrator.deployment.parameters.top_p": "Top p",
    "orchestrator.max_iterations": "Maximum model calls",
    "orchestrator.system_prompt": "",
    "orchestrator.system_prompt.content": "Prompt",
    "orchestrator.system_prompt.path": "Path",
    "orchestrator.system_prompt.template": "Prompt",
    "orchestrator.system_prompt.variables": "Variables",
    "orchestrator.tool_discovery": "Search for tools instead of listing them",
    "orchestrator.tool_discovery.min_tools_for_deferral": (
        "Always list toolsets with fewer tools than"
    ),
    "skills": "",
    "skills[].type": "Kind",
    "skills[].url": "Path",
    "tool_defaults.timeout_seconds": "Timeout for a tool call, in seconds",
    "tool_sets": "",
}
"""The labels of the manifest's fields by path, where `[]` is an index. A part that fills its
section has the label "".
"""

ITEMS = {
    "contexts[]": "Context",
    "conversation_starters.starters[]": "Starter",
    "features.subagents.types[]": "Sub-agent",
    "skills[]": "Skill from DIAL",
}
"""The names of list items, which have a number in labels."""

PARAMETERS = "open_ai_tool.function.parameters.properties"
AUTHORIZATION = {
    "authorization": "Authentication",
    "authorization.authorization_url": "Authorization URL",
    "authorization.client_id": "Client ID",
    "authorization.client_secret": "Secret",
    "authorization.key": "Secret",
    "authorization.location": "Sent in",
    "authorization.name": "Name of the header or parameter",
    "authorization.password": "Secret",
    "authorization.scope": "Scopes",
    "authorization.token": "Secret",
    "authorization.token_url": "Token URL",
    "authorization.username": "Username",
}
TOOL_FIELDS = {
    **AUTHORIZATION,
    **{f"mcp_server_info.{path}": label for path, label in AUTHORIZATION.items()},
    "allowed_tools": "Tools",
    "approval.mode": "Approval",
    "deployment_id": "Deployment",
    "description": "Description",
    "display.stage.name": "Title of a call",
    "enabled": "In use",
    "fallback_configuration.strategies": "When a call fails",
    "mcp_server_info.url": "Server URL",
    "name": "Name",
    "open_ai_tool.function.description": "Description, and when to use it",
    "open_ai_tool.function.name": "Name",
    "open_ai_tool.function.parameters": "Parameters",
    f"{PARAMETERS}.*.const": "Default or constant",
    f"{PARAMETERS}.*.default": "Default or constant",
    f"{PARAMETERS}.*.description": "Description",
    f"{PARAMETERS}.*.parameter_info.key": "At the service",
    f"{PARAMETERS}.*.parameter_info.type": "Location",
    f"{PARAMETERS}.*.type": "Type",
    "open_ai_tool.function.parameters.required": "Required",
    "rest_api_method_info.method_type": "Method",
    "rest_api_method_info.method_url": "URL",
    "title": "Title",
    "tools": "Tools",
    "user_switch": "Switch for users",
}
"""The labels of the fields of toolsets and tools, where `*` is the name of a parameter. Each kind
of toolset has labels for its own fields.
"""
LEVELS = (
    "tool_sets[]",
    "tool_sets[].override",
    "tool_sets[].tools[]",
    "tool_sets[].tools[].override",
)
"""The paths of objects with `TOOL_FIELDS`."""

LABELS = {
    **FIELDS,
    **{f"{level}.{path}": label for level in LEVELS for path, label in TOOL_FIELDS.items()},
}
PARAMETER = f"tool_sets[].tools[].{PARAMETERS}.*"
NAMED = {*ITEMS, *LEVELS, PARAMETER}
"""The paths of objects whose names are steps of a label."""


def section_of(path: str) -> StudioSection | None:
    """Return the section with a field, or None if only *All fields* has it."""
    found = [
        (len(start), one)
        for one in SECTIONS.values()
        for start in one.paths or ()
        if path == start or path.startswith((f"{start}.", f"{start}["))
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None
