from __future__ import annotations

from django.core.exceptions import ValidationError

from apps.catalog.field_problems import FieldProblem, field_problems, manifest_error
from apps.manifest.problems import Problem


def test_problems_of_a_manifest_keep_their_places():
    error = manifest_error([Problem('a["b: c"]', "100 % is wrong: write 1"), Problem("$", "empty")])
    errors = error.update_error_dict({"title": [ValidationError("too long")]})

    assert error.message_dict == {"manifest": ['a["b: c"]: 100 % is wrong: write 1', "$: empty"]}
    assert field_problems(ValidationError(errors)) == [
        FieldProblem("title", "", "too long"),
        FieldProblem("manifest", 'a["b: c"]', "100 % is wrong: write 1"),
        FieldProblem("manifest", "$", "empty"),
    ]


def test_a_problem_of_the_row_has_no_field():
    found = [FieldProblem("", "", "Archive it first.")]

    for error in (
        ValidationError("Archive it first."),
        ValidationError({"__all__": "Archive it first."}),
    ):
        assert field_problems(error) == found
    assert str(found[0]) == "Archive it first."
