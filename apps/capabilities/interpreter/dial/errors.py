"""What the statuses of the service mean, in words for the model."""

from __future__ import annotations

from apps.capabilities.interpreter.engines import InterpreterFailed

UNAUTHORIZED = (
    "Python Code Interpreter does not accept the user's API key. Tell the user that there is a "
    "problem with the API key; calling the tool again does not help."
)
EMPTY = "Python Code Interpreter answered with nothing."
UNREADABLE = "Python Code Interpreter answered in a way that cannot be understood."
UNREACHABLE = "Python Code Interpreter cannot be reached. Try again later."


class SessionFailed(InterpreterFailed):
    """The session is unknown or unusable; a new one may be opened in its place."""


def failure_of(status: int, details: str) -> InterpreterFailed:
    match status:
        case 400:
            return SessionFailed(
                "Something wrong with state passed to Python Code Interpreter. "
                f"Details: {details or 'none were given'}"
            )
        case 401:
            return InterpreterFailed(UNAUTHORIZED)
        case 404:
            return SessionFailed(
                "Python Code Interpreter session has been closed. Open a new session to work with "
                "Python Code Interpreter."
            )
        case 429:
            return InterpreterFailed(
                "There are too many Python Code Interpreter sessions. Ask the user to wait 5-10 "
                "minutes and to try again then."
            )
        case _:
            return InterpreterFailed(
                f"Python Code Interpreter failed with status {status}. Try again later."
            )
