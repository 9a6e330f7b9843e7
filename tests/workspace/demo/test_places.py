from __future__ import annotations

import pytest

from apps.workspace.demo.cities import CITIES
from apps.workspace.demo.places import COORDINATES


def test_every_known_city_has_its_place_on_earth():
    assert {city.name for city in CITIES} == COORDINATES.keys()
    assert all(abs(n) <= 90 and abs(e) <= 180 for n, e in COORDINATES.values())


def test_a_city_is_found_with_its_time_zone(client):
    answer = client.get("/demo/place", {"q": " sao  paulo"})

    assert (answer["Cache-Control"], answer.json()) == (
        "public, max-age=300",
        {
            "name": "São Paulo",
            "country": "Brazil",
            "latitude": -23.6,
            "longitude": -46.6,
            "time_zone": "America/Sao_Paulo",
        },
    )


@pytest.mark.parametrize(
    ("query", "status", "text"),
    [
        ({}, 400, "Which city? Add it to the address, as in ?q=Oslo."),
        ({"q": "x" * 101}, 400, "A city's name has at most 100 characters."),
        ({"q": "Olso"}, 404, "'Olso' is not known."),
    ],
)
def test_what_is_no_city_is_refused(client, query, status, text):
    answer = client.get("/demo/place", query)

    assert (answer.status_code, answer.json()["error"]) == (status, text)
