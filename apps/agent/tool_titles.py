"""Names tools for users, for pages that know only a tool's name."""

import re
from types import MappingProxyType

TITLES = MappingProxyType(
    {
        "internal_ask_question": "Ask a question",
        "internal_attachments_available_context": "Available files",
        "internal_attachments_get_content": "Read attachment",
        "internal_code_execution_python_interpreter": "Python interpreter",
        "internal_file_copy": "Copy file",
        "internal_file_delete": "Delete file",
        "internal_file_edit": "Edit file",
        "internal_file_find": "Find files",
        "internal_file_list": "List files",
        "internal_file_move": "Move file",
        "internal_file_read_lines": "Read file lines",
        "internal_file_search": "Search in file",
        "internal_file_write": "Write file",
        "internal_search_conversations": "Search earlier conversations",
        "internal_task": "Sub-agent",
        "internal_timeawareness_current_timestamp": "Current time",
        "internal_tool_search": "Find tools",
        "internal_web_fetch": "Fetch from the web",
        "spawn-agent": "Sub-agent",
    }
)
"""The titles of built-in tools whose names differ from the titles of their steps."""

_origin = re.compile(r"internal_[^_]+_(?=.)")
_between_words = re.compile(r"[\s_.-]+|(?<=[a-z\d])(?=[A-Z])")


def tool_title(name: str) -> str:
    """Return a title for a tool, such as "Weather now" for `Weather_now`."""
    return TITLES.get(name) or in_words(_origin.sub("", name, count=1))


def in_words(name: str) -> str:
    """Return an identifier as a phrase, such as "Order status" for `orderStatus`."""
    words = " ".join(filter(None, _between_words.split(name))) or name
    words = words if words.isupper() else words.lower()
    return f"{words[:1].upper()}{words[1:]}"
