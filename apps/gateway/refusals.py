"""What a request that is refused is told about its body, in DIAL's words."""

from apps.doors.quotes import shortened
from apps.errors import BadRequest


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
