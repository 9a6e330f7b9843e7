"""The tags in which calls of tools and their results are written as text."""

import re

CALL = "tool_use"
CALLS = frozenset({CALL, "function_call"})
"""Two names of one tag: models write both."""
SEVERAL = "parallel_tool_calls"
RESULTS = "functions_result"
RESULT = "result"

_tag = re.compile(rf"<(?=/?\s*(?:{'|'.join((*sorted(CALLS), SEVERAL, RESULTS))})\b)", re.IGNORECASE)
_result_tag = re.compile(rf"<(?=/?\s*{RESULT}\b)", re.IGNORECASE)


def escaped(text: str) -> str:
    """The text without tags: what somebody has only quoted is no call, and no result."""
    return _tag.sub("&lt;", text) if "<" in text else text


def escaped_result(text: str) -> str:
    return _result_tag.sub("&lt;", escaped(text)) if "<" in text else text


def escaped_json(text: str) -> str:
    """JSON with the tags in its texts spelled in another way, which means the same."""
    return _tag.sub(r"\\u003c", text) if "<" in text else text
