"""Names tools for users, for pages that know only a tool's name."""

import re
from types import MappingProxyType

from apps.errors import gettext_noop

TITLES = MappingProxyType(
    {
        "_platform.inspect_page": gettext_noop("Look at the page"),
        "_platform.set_field": gettext_noop("Fill in a field of the page"),
        "_platform_inspect_team": gettext_noop("Look at the team"),
        "_platform_list_modules": gettext_noop("List the places"),
        "_platform_list_places": gettext_noop("List the places"),
        "alarm-clock": gettext_noop("Alarm"),
        "delete_all_memories": gettext_noop("Delete all memories"),
        "edit-heartbeat": gettext_noop("Heartbeat"),
        "edit-tiddler": gettext_noop("Edit the note"),
        "forget_memory": gettext_noop("Forget a memory"),
        "internal_ask_question": gettext_noop("Ask a question"),
        "internal_attachments_available_context": gettext_noop("Available files"),
        "internal_attachments_get_content": gettext_noop("Read attachment"),
        "internal_code_execution_python_interpreter": gettext_noop("Python interpreter"),
        "internal_file_copy": gettext_noop("Copy file"),
        "internal_file_delete": gettext_noop("Delete file"),
        "internal_file_edit": gettext_noop("Edit file"),
        "internal_file_find": gettext_noop("Find files"),
        "internal_file_list": gettext_noop("List files"),
        "internal_file_move": gettext_noop("Move file"),
        "internal_file_read_lines": gettext_noop("Read file lines"),
        "internal_file_search": gettext_noop("Search in file"),
        "internal_file_write": gettext_noop("Write file"),
        "internal_representation_add_attachment": gettext_noop("Add attachment"),
        "internal_search_conversations": gettext_noop("Search earlier conversations"),
        "internal_skills_read_skill": gettext_noop("Read skill"),
        "internal_task": gettext_noop("Sub-agent"),
        "internal_timeawareness_current_timestamp": gettext_noop("Current time"),
        "internal_tool_search": gettext_noop("Find tools"),
        "internal_web_fetch": gettext_noop("Fetch from the web"),
        "list-schedules": gettext_noop("Look at the schedules"),
        "manage-todo": gettext_noop("To-do list"),
        "read_mcp_resource": gettext_noop("Read resource"),
        "remove-schedule": gettext_noop("Remove a schedule"),
        "schedule-task": gettext_noop("Schedule"),
        "search_memories": gettext_noop("Search memories"),
        "search_memory": gettext_noop("Search memories"),
        "spawn-agent": gettext_noop("Sub-agent"),
        "store_memory": gettext_noop("Store memory"),
        "update-schedule": gettext_noop("Change a schedule"),
        "update_memory": gettext_noop("Change a memory"),
        "wiki-backlinks": gettext_noop("Notes with a link"),
        "wiki-get-errors": gettext_noop("Check the note"),
        "wiki-list-tiddlers": gettext_noop("List notes"),
        "wiki-operation": gettext_noop("Change notes"),
        "wiki-recent": gettext_noop("Newest notes"),
        "wiki-search": gettext_noop("Search notes"),
        "wiki-toc": gettext_noop("Table of contents of notes"),
        "wiki-update-embeddings": gettext_noop("Update embeddings of notes"),
    }
)
"""The titles of built-in tools, in English."""

_origin = re.compile(r"internal_[^_]+_(?=.)")
_between_words = re.compile(r"[\s_.-]+|(?<=[a-z\d])(?=[A-Z])")


def tool_title(name: str) -> str:
    """Return a title in English for a tool, such as "Weather now" for `Weather_now`. The titles of
    built-in tools have translations.
    """
    return TITLES.get(name) or in_words(_origin.sub("", name, count=1))


def in_words(name: str) -> str:
    """Return an identifier as a phrase, such as "Order status" for `orderStatus`."""
    words = " ".join(filter(None, _between_words.split(name))) or name
    words = words if words.isupper() else words.lower()
    return f"{words[:1].upper()}{words[1:]}"
