"""The demo's service for support desks."""

from __future__ import annotations

import json

import pytest

from apps.demo.desk import ARTICLES, NOT_STORED, NOTE
from tests.tables import each_row

pytestmark = pytest.mark.django_db


def test_an_order_is_found_by_its_number(client):
    answer = client.get("/demo/desk/orders/1002")

    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer.json() == {
        "order": 1002,
        "item": "Rain jacket, size M",
        "state": "on its way",
        "date": "2026-03-09",
        "note": NOTE,
    }


def test_an_unknown_order_is_not_found_and_the_known_ones_are_named(client):
    answer = client.get("/demo/desk/orders/5")

    text = "There is no order 5. The demo's orders are 1001, 1002, 1003, 1004."
    assert (answer.status_code, answer.json()) == (404, {"error": text})


@each_row(
    ("question", "titles"),
    [
        ("Can I return a jacket?", ["Returns"]),
        ("free DELIVERY", ["Delivery"]),
        ("xyz", list(ARTICLES)),
        ("", list(ARTICLES)),
    ],
)
def test_articles_share_a_word_with_the_question(client, question, titles):
    found = client.get("/demo/desk/articles", {"question": question}).json()

    assert found == {**{title: ARTICLES[title] for title in titles}, "note": NOTE}


def test_a_ticket_is_answered_and_not_stored(client):
    answer = client.post(
        "/demo/desk/tickets", json.dumps({"summary": " A hole "}), "application/json"
    )

    ticket = {"ticket": 7, "summary": "A hole", "note": NOT_STORED}
    assert (answer.status_code, answer.json()) == (201, ticket)


@pytest.mark.parametrize("body", ["", "[]", "[" * 9_000, '{"summary": " "}', '{"summary": 3}'])
def test_a_ticket_without_a_summary_is_refused(client, body):
    answer = client.post("/demo/desk/tickets", body, "application/json")

    error = {"error": "summary: required; describe the problem."}
    assert (answer.status_code, answer.json()) == (400, error)
