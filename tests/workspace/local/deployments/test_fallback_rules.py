"""Valid fallbacks of a deployment."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from apps.workspace.local.deployments.fallback_rules import MOST_FALLBACKS
from apps.workspace.local.models import Deployment
from tests.catalog.rows import make_deployment
from tests.contract import proves

pytestmark = pytest.mark.django_db


def problem_of(row: Deployment) -> str:
    try:
        row.full_clean()
    except ValidationError as error:
        return "".join(error.message_dict["fallbacks"])
    return ""


@pytest.mark.parametrize(
    ("fallbacks", "problem"),
    [
        ([], ""),
        (["b"], ""),
        (["off", "b"], ""),
        (["gone"], "Unknown deployment: 'gone'."),
        (["a"], "'a' is this deployment itself."),
        (["b", "b"], "'b' is listed twice. Remove one."),
        (["picture"], "'picture' is of the kind 'image'."),
        (["core"], "'core' may be an application, because it uses DIAL's protocol."),
        (["b", "c"], "'c' is circular: a → c → d → a."),
        (
            [f"b{number}" for number in range(MOST_FALLBACKS + 1)],
            "There are 9 deployments; the limit is 8.",
        ),
        ("b", "Enter a JSON list of deployment IDs, such as"),
        ([5], "Enter a JSON list of deployment IDs, such as"),
        ({"b": 1}, "Enter a JSON list of deployment IDs, such as"),
    ],
)
def test_a_mistake_names_the_id_and_what_to_do(fallbacks: Any, problem: str):
    row = make_deployment("a")
    make_deployment("b")
    make_deployment("off", is_enabled=False)
    make_deployment("picture", kind="image")
    make_deployment(
        "core", provider="openai", base_url="https://x.example/v1", features={"dial": True}
    )
    make_deployment("d", fallbacks=["b", "a"])
    make_deployment("c", fallbacks=["d"])

    row.fallbacks = fallbacks

    found = problem_of(row)
    assert found.startswith(problem)
    assert bool(found) == bool(problem)


@proves("R-12")
@pytest.mark.parametrize(
    "fields", [{"kind": "image"}, {"features": {"dial": True}, "provider": "openai"}]
)
def test_only_chat_models_have_fallbacks(fields: dict[str, Any]):
    make_deployment("b")
    row = make_deployment("a", base_url="https://x.example/v1", **fields)
    row.fallbacks = ["b"]

    assert problem_of(row).endswith("Only chat models can have fallbacks. Remove them.")
