from __future__ import annotations

import pytest

from apps.errors import BudgetReserved, BudgetSpent, DeploymentNotFound, ModelFailed
from apps.gateway.base import error_body
from apps.runs.failures import WITH_LIMITS, failure
from tests.contract import proves


@proves("2.6")
@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (ModelFailed("x", status=400, code="blocked", kind="moderation"), "blocked", "moderation"),
        (ModelFailed("x", status=403), "403", "invalid_request_error"),
        (ModelFailed("x", status=429), "429", "rate_limit_error"),
        (ModelFailed("x", status=503), "500", "runtime_error"),
        (DeploymentNotFound("gpt"), "DeploymentNotFound", "invalid_request_error"),
        (BudgetSpent("Spent."), "insufficient_quota", "insufficient_quota"),
        (BudgetReserved("Reserved."), "rate_limit_exceeded", "rate_limit_error"),
        (OSError(), "500", "runtime_error"),
    ],
)
def test_an_error_has_the_type_of_the_upstream_or_of_its_status(error, code, kind):
    written = error_body(failure(error, WITH_LIMITS))["error"]

    assert (written["code"], written["type"]) == (code, kind)
