"""Serves invented weather reports and the locations of cities, for the demo's tools."""

import hashlib
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from apps.demo.cities import City, find_city, similar_cities

LONGEST_NAME = 100
FRESH_SECONDS = 300
NOTE = "Demo data: made up, and the same every time."
SKIES = ("clear", "partly cloudy", "overcast", "light rain", "rain", "fog", "windy", "snow showers")


def weather_of(city: City) -> dict[str, str | int]:
    """Return an invented weather report. The report for a city is always the same."""
    draw = hashlib.sha256(city.name.encode()).digest()
    sky = SKIES[draw[0] % len(SKIES)]
    return {
        "city": city.name,
        "country": city.country,
        "conditions": sky,
        "temperature_celsius": draw[1] % 5 - 4 if sky == "snow showers" else draw[1] % 28 + 3,
        "wind_km_h": draw[2] % 20 + (30 if sky == "windy" else 2),
        "humidity_percent": draw[3] % 50 + 45,
        "note": NOTE,
    }


@require_safe
def answer(
    request: HttpRequest, parameter: str, lookup: Callable[[City], dict[str, Any]]
) -> HttpResponse:
    """Return the result of `lookup` for the city in the query parameter, or an error that suggests
    similar names.
    """
    name = " ".join(request.GET.get(parameter, "").split())
    if not name:
        return refusal(400, f"Add a city to the URL, as in ?{parameter}=Oslo.")
    if len(name) > LONGEST_NAME:
        return refusal(
            400, f"The name of the city is too long; the limit is {LONGEST_NAME} characters."
        )
    city = find_city(name)
    if city is None:
        text = f"{name!r} is not a city that the demo knows."
        return refusal(404, text, suggestions=similar_cities(name))
    cached = f"public, max-age={FRESH_SECONDS}"
    return JsonResponse(lookup(city), headers={"Cache-Control": cached})


def refusal(status: int, text: str, **more: Any) -> HttpResponse:
    uncached = {"Cache-Control": "no-store"}
    return JsonResponse({"error": text, **more}, status=status, headers=uncached)


urlpatterns = [
    path("weather", partial(answer, parameter="city", lookup=weather_of), name="demo-weather"),
    path("place", partial(answer, parameter="q", lookup=asdict), name="demo-place"),
]
