"""Formats API errors, with the path of each problem.

{"detail": "Nothing was saved.", "errors": [{"path": "manifest.tool_sets[0]", "message": "…"}]}
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from django.core.exceptions import ValidationError as ModelError
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from apps.catalog.field_problems import FieldProblem, field_problems
from apps.catalog.own_skills import SKILLS
from apps.manifest.problems import ROOT, Problem, join_path

NOTHING_SAVED = "Nothing was saved."
INVALID_QUERY = "The query has invalid parameters."


class RowInvalid(APIException):
    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(NOTHING_SAVED)
        self.problems = problems


class RowInUse(APIException):
    """The row cannot be deleted, because applications use it."""

    status_code = status.HTTP_409_CONFLICT


class EditConflict(APIException):
    """Another user saved the row in the meantime. The response includes the `changes`."""

    def __init__(self, status_code: int, message: str, changes: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.changes = changes


def error_response(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Return the response for an error, or None if it is unexpected. Django REST framework calls
    this `EXCEPTION_HANDLER`.
    """
    response = exception_handler(error, dict(context))
    if response is None:
        return None
    if isinstance(error, EditConflict):
        response.data = {**response.data, **error.changes}
    problems: Sequence[Problem] = ()
    if isinstance(error, RowInvalid):
        problems = error.problems
    elif isinstance(error, ValidationError):
        problems = tuple(flatten(error.detail))
    if problems:
        is_read = context["request"].method in SAFE_METHODS
        detail = INVALID_QUERY if is_read else NOTHING_SAVED
        response.data = {"detail": detail, "errors": list(map(asdict, problems))}
    return response


def flatten(detail: Any, path: str = "") -> Iterator[Problem]:
    """Yield the problems in a serializer's nested errors."""
    if isinstance(detail, Mapping):
        for key, member in detail.items():
            general = key == api_settings.NON_FIELD_ERRORS_KEY
            yield from flatten(member, path if general else join_path(path, key))
    elif isinstance(detail, list):
        for member in detail:
            yield from flatten(member, path)
    else:
        yield Problem(path or ROOT, str(detail))


def problems_of_row(error: ModelError) -> tuple[Problem, ...]:
    """Return the problems in an error from a model's `full_clean`."""
    return tuple(Problem(path_of(found), found.message) for found in field_problems(error))


def path_of(found: FieldProblem) -> str:
    return at_manifest(found.path) if found.field == "manifest" else found.field or ROOT


def in_manifest(problems: Iterable[Problem]) -> list[Problem]:
    """Prefix the paths in a manifest with `manifest`, its field in the API."""
    return [replace(found, path=at_manifest(found.path)) for found in problems]


def at_manifest(path: str) -> str:
    if path in {"", ROOT}:
        return "manifest"
    if path.startswith(f"{SKILLS}/"):
        return path  # The path of one of the application's files.
    return f"manifest{path}" if path.startswith("[") else f"manifest.{path}"
