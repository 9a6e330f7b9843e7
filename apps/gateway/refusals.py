"""What a request that is refused is told about its body, in DIAL's words."""

from collections.abc import Sequence

from apps.errors import BadRequest

LONGEST_QUOTE = 100
"""Characters of a client's text that an error message repeats."""
MOST_LINES = 100


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1]}…"


def bullets(lines: Sequence[str]) -> str:
    """The lines as a list, and the number of those that are left out."""
    shown = [f"- {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"- … and {len(lines) - MOST_LINES} more")
    return "\n".join(shown)


def invalid(path: str, problem: str) -> BadRequest:
    place = f" on path {path}" if path else ""
    return BadRequest(f"Your request contained invalid structure{place}. {problem}")


def invalid_structure(text: str, prefix: str = "") -> BadRequest:
    """The error of msgspec, with its place written as DIAL does: `messages.0.role`."""
    problem, _, place = text.partition(" - at `$")
    path = place.rstrip("`").replace("[", ".").replace("]", "").replace(".....", ".").strip(".")
    return invalid(".".join(filter(None, (prefix, path))), f"{shortened(problem)}.")


def too_deep(limit: int) -> BadRequest:
    return BadRequest(f"The request body is nested deeper than {limit} levels.")
