"""`/dev/ai-latency`: its access and its format."""

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.catalog.rows import make_operator
from tests.console.pages import permit
from tests.contract import proves
from tests.insights.calls import model_call, store, tool_use

pytestmark = pytest.mark.django_db

ADDRESS = "/dev/ai-latency"
JSON = "application/json"


@pytest.fixture(autouse=True)
def _dev(settings) -> None:
    settings.DEV_ENDPOINTS = True
    store(
        model_call(bucket="user-777", model="theirs", started_at=timezone.now()),
        tool_use(bucket="user-777", tool="<b>tool</b>", started_at=timezone.now()),
    )


@proves("T-61")
def test_without_the_setting_there_is_no_such_address(settings, client):
    settings.DEV_ENDPOINTS = False
    client.force_login(make_operator())

    assert client.get(ADDRESS).status_code == 404
    assert client.get(ADDRESS, HTTP_ACCEPT=JSON).status_code == 404


@proves("T-61")
def test_an_operator_sees_the_calls_of_all(client):
    client.force_login(make_operator())

    answer = client.get(ADDRESS, HTTP_ACCEPT=JSON)

    second = {"p50": 1.0, "p95": 1.0, "p99": 1.0}
    unknown = dict.fromkeys(second)
    tool = {"location": "server", "calls": 1, "error_rate": 0.0, "seconds": second}
    assert "no-store" in answer["Cache-Control"]
    assert answer.json() == {
        "scope": "all",
        "minutes": 60,
        "models": [
            {
                "provider": "openai",
                "model": "theirs",
                "calls": 1,
                "error_rate": 0.0,
                "first_text_seconds": unknown,
                "turn_seconds": second,
                "cache_hit_rate": None,
            }
        ],
        "tools": [{"tool": "<b>tool</b>", **tool}],
        "locations": [{"tool": "", **tool}],
    }


@proves("T-61")
def test_the_page_says_the_same(client):
    client.force_login(make_operator())

    answer = client.get(ADDRESS, HTTP_ACCEPT="text/html,*/*;q=0.8")
    text = answer.text

    assert "no-store" in answer["Cache-Control"]
    # Without it, the theme's scripts leave the page empty.
    assert "'unsafe-eval'" in answer["Content-Security-Policy"]
    assert "All calls of the last 60 minutes" in " ".join(text.split())
    assert '<th scope="row">openai: theirs</th>' in text
    assert "&lt;b&gt;tool&lt;/b&gt; (server)" in text
    assert "1.00 s" in text


@proves("T-61")
@pytest.mark.parametrize("is_viewer", [False, True])
def test_other_people_see_their_own_unless_they_may_see_usage(client, django_user_model, is_viewer):
    person = django_user_model.objects.create_user("alice")
    if is_viewer:
        permit(person, "view_usagesum", "see_all_applications")
    store(model_call(bucket=f"user-{person.pk}", model="mine", started_at=timezone.now()))
    client.force_login(person)

    found = client.get(ADDRESS, HTTP_ACCEPT=JSON).json()

    assert found["scope"] == ("all" if is_viewer else "own")
    assert [one["model"] for one in found["models"]] == ["mine", "theirs"][: 1 + is_viewer]
    assert client.get(ADDRESS, HTTP_ACCEPT="text/html").status_code == 200


@proves("T-61")
def test_nobody_sees_anything_without_signing_in(client):
    page, data = client.get(ADDRESS, HTTP_ACCEPT="text/html"), client.get(ADDRESS, HTTP_ACCEPT=JSON)

    assert (page.status_code, page["Location"]) == (302, f"/accounts/login/?next={ADDRESS}")
    assert (data.status_code, data.json()["error"]["code"]) == (401, "unauthorized")
    assert client.post(ADDRESS).status_code == 405
