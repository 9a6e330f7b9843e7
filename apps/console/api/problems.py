"""Refusals of the API: one shape, with the path of each mistake.

{"detail": "Nothing was saved.", "errors": [{"path": "manifest.tool_sets[0]", "message": "…"}]}
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError as ModelError
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from apps.manifest.problems import ROOT, Problem, join

NOTHING_SAVED = "Nothing was saved."


class RowInvalid(APIException):
    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(NOTHING_SAVED)
        self.problems = problems


class EditConflict(APIException):
    """The row was saved meanwhile; `changes` is added to the body of the answer."""

    def __init__(self, status_code: int, message: str, changes: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.changes = changes


def error_response(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The `EXCEPTION_HANDLER` of Django REST framework."""
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
        response.data = {"detail": NOTHING_SAVED, "errors": list(map(asdict, problems))}
    return response


def flatten(detail: Any, path: str = "") -> Iterator[Problem]:
    """The problems in the nested `detail` of a serializer's error."""
    if isinstance(detail, Mapping):
        for key, member in detail.items():
            general = key == api_settings.NON_FIELD_ERRORS_KEY
            yield from flatten(member, path if general else join(path, key))
    elif isinstance(detail, list):
        for member in detail:
            yield from flatten(member, path)
    else:
        yield Problem(path or ROOT, str(detail))


def problems_of_row(error: ModelError) -> tuple[Problem, ...]:
    """The problems that a model's `full_clean` raised."""
    if not hasattr(error, "error_dict"):
        return tuple(Problem(ROOT, message) for message in error.messages)
    return tuple(
        Problem(ROOT if name == "__all__" else name, message)
        for name, messages in error.message_dict.items()
        for message in messages
    )
