"""Converts Django's `ValidationError` to errors with a field and a path in that field."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from apps.manifest.problems import Problem


class FieldPathError(ValidationError):
    """A validation error at a path in a JSON field."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """A validation error in a row."""

    field: str
    """The field, or "" if the error concerns the whole row."""
    path: str
    """The path in a JSON field, or ""."""
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.field, self.path, self.message) if part)


def manifest_error(problems: Iterable[Problem]) -> ValidationError:
    return ValidationError({"manifest": [*map(FieldPathError, problems)]})


def field_problems(error: ValidationError) -> list[FieldProblem]:
    """Return one problem for each message of the error, in the order of its fields."""
    by_field = getattr(error, "error_dict", None) or {NON_FIELD_ERRORS: error.error_list}
    return [
        field_problem("" if name == NON_FIELD_ERRORS else name, one)
        for name, errors in by_field.items()
        for one in errors
    ]


def field_problem(field: str, error: ValidationError) -> FieldProblem:
    if isinstance(error, FieldPathError):
        return FieldProblem(field, error.problem.path, error.problem.message)
    return FieldProblem(field, "", error.messages[0])
