"""The paths of changed fields in words."""

import pytest

from apps.catalog.models import Application
from apps.console.templatetags.field_labels import field_label


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("slug", "Slug"),
        ("manifest.tool_sets[1].base_url", "Tool sets 2 › Base URL"),  # noqa: RUF001
        ("manifest.orchestrator.max_iterations", "Orchestrator › Max iterations"),  # noqa: RUF001
        ('skill My-Tone["examples/letter.md"]', "Skill My-Tone › examples/letter.md"),  # noqa: RUF001
        ("$", "All fields"),
    ],
)
def test_the_path_of_a_change_is_shown_as_the_labels_of_its_fields(path: str, label: str):
    assert field_label(path, Application._meta) == label
    assert field_label(path, "") == label
