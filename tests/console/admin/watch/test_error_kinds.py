import pytest

from apps.console.admin.watch.error_kinds import error_words, with_attempts


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("connection", "Could not reach the service"),
        ("blocked", "Blocked by the network policy"),
        ("status 429", "The service’s rate limit was reached (status 429)"),
        ("status 503", "The service failed (status 503)"),
        ("status 418", "The service refused the request (status 418)"),
        ("stream 500", "The service interrupted its response (status 500)"),
        ("BudgetSpent", "Budget spent"),
        ("Tool failed", "Tool failed"),
    ],
)
def test_a_kind_of_error_is_worded(kind, words):
    assert error_words(kind) == words


def test_attempts_are_in_the_same_parentheses_as_a_status():
    assert with_attempts("Timed out", 1) == "Timed out"
    assert with_attempts("Timed out", 4) == "Timed out (4 attempts)"
    assert with_attempts("Failed (status 503)", 2) == "Failed (status 503, 2 attempts)"
