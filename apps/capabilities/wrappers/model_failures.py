"""Converts the failure of a model that a tool called to the failure of the tool."""

from apps.capabilities.wrappers.value_texts import ERROR_CHARACTERS, shorten_text
from apps.errors import ModelFailed, ToolError, ToolTimedOut


def tool_error(name: str, seconds: float, error: ModelFailed, *, has_answered: bool) -> ToolError:
    """Return the error of the tool `name`. `seconds` is the model's timeout; `has_answered` means
    that its answer had begun.
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
