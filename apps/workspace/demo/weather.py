"""A small weather service for demonstrations. Its weather is made up, and it says so."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from apps.workspace.demo.cities import City, find_city, similar_cities

LONGEST_NAME = 100
FRESH_SECONDS = 300
NOTE = "Demo data: made up, and the same every time."
SKIES = ("clear", "partly cloudy", "overcast", "light rain", "rain", "fog", "windy", "snow showers")


@require_safe
def weather(request: HttpRequest) -> JsonResponse:
    """`GET ?city=Oslo` answers with the weather of a known city."""
    name = " ".join(request.GET.get("city", "").split())
    if not name:
        return refuse(400, "Which city? Add it to the address, as in ?city=Oslo.")
    if len(name) > LONGEST_NAME:
        return refuse(400, f"A city's name has at most {LONGEST_NAME} characters.")
    city = find_city(name)
    if city is None:
        text = f"There is no demo weather for {name!r}."
        return refuse(404, text, suggestions=similar_cities(name))
    answer = JsonResponse(weather_of(city))
    answer["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    return answer


def weather_of(city: City) -> dict[str, str | int]:
    """The same numbers for the same city, drawn from its name."""
    draw = hashlib.sha256(city.name.encode()).digest()
    sky = SKIES[draw[0] % len(SKIES)]
    temperature = draw[1] % 5 - 4 if sky == "snow showers" else draw[1] % 28 + 3
    return {
        "city": city.name,
        "country": city.country,
        "conditions": sky,
        "temperature_celsius": temperature,
        "wind_km_h": draw[2] % 20 + (30 if sky == "windy" else 2),
        "humidity_percent": draw[3] % 50 + 45,
        "note": NOTE,
    }


def refuse(status: int, text: str, **details: object) -> JsonResponse:
    answer = JsonResponse({"error": text, **details}, status=status)
    answer["Cache-Control"] = "no-store"
    return answer
