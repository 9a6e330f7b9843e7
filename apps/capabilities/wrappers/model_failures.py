"""The failure of a model that a tool asked, as the failure of the tool."""

from apps.capabilities.wrappers.texts import ERROR_CHARACTERS, shortened
from apps.errors import ModelFailed, ToolError, ToolTimedOut


def tool_error(name: str, seconds: float, error: ModelFailed, *, has_answered: bool) -> ToolError:
    """`seconds` is the time that the tool called `name` gives its model."""
    if error.reason == "timeout":
        found: ToolError = ToolTimedOut(name, seconds)
    else:
        found = ToolError(
            f"{name}: {shortened(error.display or str(error), ERROR_CHARACTERS)}",
            is_lasting=not error.is_transient,
            retry_after=error.retry_after,
        )
    found.has_answered = has_answered
    return found
