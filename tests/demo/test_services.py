from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest

from apps.demo.cities import CITIES, find_city
from apps.demo.services import NOTE, weather_of
from tests.tables import each_row

OSLO = next(city for city in CITIES if city.name == "Oslo")


def ask(client, **query):
    response = client.get("/demo/weather", query)
    return response.status_code, json.loads(response.content)


def test_the_weather_of_a_city_is_the_same_every_time_and_says_that_it_is_made_up(client):
    status, found = ask(client, city=" oslo ")

    assert (status, found) == (200, weather_of(OSLO))
    assert (found["city"], found["country"], found["note"]) == ("Oslo", "Norway", NOTE)
    assert ask(client, city="OSLO") == (status, found)


def test_the_weather_may_be_cached_and_an_error_may_not(client):
    assert client.get("/demo/weather?city=Oslo")["Cache-Control"] == "public, max-age=300"
    assert client.get("/demo/weather")["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["São Paulo", "sao paulo", "SA\u0303O  PAULO"])
def test_a_city_is_found_with_and_without_its_accents(client, name):
    assert ask(client, city=name)[1]["city"] == "São Paulo"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({}, "Add a city to the URL, as in ?city=Oslo."),
        ({"city": "  "}, "Add a city to the URL, as in ?city=Oslo."),
        ({"city": "x" * 101}, "The name of the city is too long; the limit is 100 characters."),
    ],
)
def test_a_question_without_a_city_is_refused(client, query, text):
    assert ask(client, **query) == (400, {"error": text})


def test_an_unknown_city_is_not_found_and_similar_ones_are_named(client):
    assert ask(client, city="Olso") == (
        404,
        {"error": "'Olso' is not a city that the demo knows.", "suggestions": ["Oslo"]},
    )
    assert ask(client, city="Atlantis\x00")[1]["suggestions"] == []


@pytest.mark.django_db
def test_only_reading_is_possible(client):
    assert client.post("/demo/weather").status_code == 405


@each_row("city", CITIES)
def test_every_city_has_a_zone_and_a_place_that_exist_and_weather_that_can_be(city):
    found = weather_of(city)

    assert ZoneInfo(city.time_zone).key == city.time_zone
    assert find_city(city.name) == city
    assert abs(city.latitude) <= 90
    assert abs(city.longitude) <= 180
    assert -5 <= int(found["temperature_celsius"]) <= 35
    assert 0 <= int(found["humidity_percent"]) <= 100


def test_the_place_of_a_city_is_found_with_its_time_zone(client):
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
        ({}, 400, "Add a city to the URL, as in ?q=Oslo."),
        ({"q": "x" * 101}, 400, "The name of the city is too long; the limit is 100 characters."),
        ({"q": "Olso"}, 404, "'Olso' is not a city that the demo knows."),
    ],
)
def test_a_place_that_is_no_city_is_refused(client, query, status, text):
    answer = client.get("/demo/place", query)

    assert (answer.status_code, answer.json()["error"]) == (status, text)
