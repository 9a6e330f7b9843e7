"""Converts a tool's failed model call to a tool error."""

from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, shorten_text
from apps.errors import ModelFailed, ToolError, ToolTimedOut


def tool_error(name: str, seconds: float, error: ModelFailed, *, has_answered: bool) -> ToolError:
    """Convert a failed model call to an error from the tool `name`.

    `seconds` is the model's timeout. `has_answered` is True if the model's answer had begun.
    """
    if error.reason == "timeout":
        found: ToolError = ToolTimedOut(name, seconds)
    else:
        found = ToolError(
            f"{name}: {shorten_text(error.display or str(error), ERROR_CHARACTERS)}",
            is_lasting=not error.is_transient,
            retry_after=error.retry_after,
        )
    found.has_answered = has_answered
    return found
