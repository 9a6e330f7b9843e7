"""Lists the files that an answer has read with tools.

The list is built from the tool calls in the answer's state, because an application can hide its
steps.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from apps.agent.messages import ModelMessage
from apps.capabilities.attachments.policies import TOOL_NAME as ATTACHMENT_TOOL
from apps.capabilities.documents.names import FILE_URL, FILE_URLS, SOURCE, USUAL
from apps.capabilities.wrappers.value_texts import one_line
from apps.runs.history import expand
from apps.workspace.loading.loader import last_segment

FILES_OF = {
    "internal_file_read_lines": ("path",),
    "internal_file_search": ("path",),
    ATTACHMENT_TOOL: ("attachment_url",),
    USUAL.extraction: (FILE_URL,),
    SOURCE.extraction: (FILE_URL,),
    USUAL.answer: (FILE_URL, FILE_URLS),
    SOURCE.answer: (FILE_URLS,),
}
"""Maps tool names to the names of the arguments that contain file URLs."""
FAILED = ("Error", "> ##### Error")
"""The results of failed tool calls begin with one of these texts."""
MOST = 50
CHARACTERS = 200
"""File names are truncated to this many characters."""


def files_read(state: Mapping[str, Any]) -> list[str]:
    """Return the distinct names of the files that the answer has read, in the order of the tool
    calls. `state` is the answer's state.
    """
    return list(islice(dict.fromkeys(names_in(state)), MOST))


def names_in(state: Mapping[str, Any]) -> Iterator[str]:
    asked: dict[str, list[str]] = {}
    for message in expand([ModelMessage("assistant", state=state)]):
        for call in message.tool_calls:
            if call.name in FILES_OF:
                asked[call.id] = [*addresses(call.arguments, FILES_OF[call.name])]
        if message.role == "tool" and not message.text.startswith(FAILED):
            for address in asked.get(message.tool_call_id or "", ()):
                yield one_line(last_segment(address), CHARACTERS)


def addresses(arguments: str, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the file URLs in the arguments `names` of a tool call. URLs of folders, which end with
    a slash, are omitted.
    """
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    for name in names if isinstance(found, dict) else ():
        given = found.get(name)
        for one in given if isinstance(given, list) else (given,):
            if isinstance(one, str) and one and not one.endswith("/"):
                yield one
