"""Where well-known cities are, for demonstrations."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from apps.workspace.demo.cities import find_city, similar_cities
from apps.workspace.demo.weather import FRESH_SECONDS, LONGEST_NAME, refuse

COORDINATES: Mapping[str, tuple[float, float]] = {
    "Accra": (5.6, -0.2),
    "Addis Ababa": (9.0, 38.7),
    "Amsterdam": (52.4, 4.9),
    "Athens": (38.0, 23.7),
    "Auckland": (-36.8, 174.8),
    "Bangkok": (13.8, 100.5),
    "Barcelona": (41.4, 2.2),
    "Beijing": (39.9, 116.4),
    "Berlin": (52.5, 13.4),
    "Bogotá": (4.7, -74.1),
    "Boston": (42.4, -71.1),
    "Brussels": (50.9, 4.4),
    "Budapest": (47.5, 19.0),
    "Buenos Aires": (-34.6, -58.4),
    "Cairo": (30.0, 31.2),
    "Cape Town": (-33.9, 18.4),
    "Chicago": (41.9, -87.6),
    "Copenhagen": (55.7, 12.6),
    "Delhi": (28.7, 77.1),
    "Denver": (39.7, -105.0),
    "Dubai": (25.2, 55.3),
    "Dublin": (53.3, -6.3),
    "Helsinki": (60.2, 24.9),
    "Hong Kong": (22.3, 114.2),
    "Honolulu": (21.3, -157.9),
    "Istanbul": (41.0, 29.0),
    "Jakarta": (-6.2, 106.8),
    "Johannesburg": (-26.2, 28.0),
    "Kathmandu": (27.7, 85.3),
    "Kraków": (50.1, 19.9),
    "Kyiv": (50.5, 30.5),
    "Lagos": (6.5, 3.4),
    "Lima": (-12.0, -77.0),
    "Lisbon": (38.7, -9.1),
    "London": (51.5, -0.1),
    "Los Angeles": (34.1, -118.2),
    "Madrid": (40.4, -3.7),
    "Melbourne": (-37.8, 145.0),
    "Mexico City": (19.4, -99.1),
    "Minsk": (53.9, 27.6),
    "Montreal": (45.5, -73.6),
    "Mumbai": (19.1, 72.9),
    "Nairobi": (-1.3, 36.8),
    "New York": (40.7, -74.0),
    "Oslo": (59.9, 10.8),
    "Paris": (48.9, 2.4),
    "Prague": (50.1, 14.4),
    "Reykjavik": (64.1, -21.9),
    "Riga": (56.9, 24.1),
    "Rio de Janeiro": (-22.9, -43.2),
    "Rome": (41.9, 12.5),
    "San Francisco": (37.8, -122.4),
    "Santiago": (-33.4, -70.7),
    "São Paulo": (-23.6, -46.6),
    "Seoul": (37.6, 127.0),
    "Singapore": (1.4, 103.8),
    "Stockholm": (59.3, 18.1),
    "Sydney": (-33.9, 151.2),
    "Tallinn": (59.4, 24.8),
    "Tashkent": (41.3, 69.2),
    "Tbilisi": (41.7, 44.8),
    "Tokyo": (35.7, 139.7),
    "Toronto": (43.7, -79.4),
    "Vancouver": (49.3, -123.1),
    "Vienna": (48.2, 16.4),
    "Vilnius": (54.7, 25.3),
    "Warsaw": (52.2, 21.0),
    "Yerevan": (40.2, 44.5),
    "Zürich": (47.4, 8.5),
}
"""Degrees north and east, to a tenth, which is some ten kilometres."""


@require_safe
def place(request: HttpRequest) -> JsonResponse:
    """`GET ?q=Oslo` answers with the place of a known city."""
    name = " ".join(request.GET.get("q", "").split())
    if not name:
        return refuse(400, "Which city? Add it to the address, as in ?q=Oslo.")
    if len(name) > LONGEST_NAME:
        return refuse(400, f"A city's name has at most {LONGEST_NAME} characters.")
    city = find_city(name)
    if city is None:
        return refuse(404, f"{name!r} is not known.", suggestions=similar_cities(name))
    latitude, longitude = COORDINATES[city.name]
    answer = JsonResponse(
        {
            "name": city.name,
            "country": city.country,
            "latitude": latitude,
            "longitude": longitude,
            "time_zone": city.zone,
        }
    )
    answer["Cache-Control"] = f"public, max-age={FRESH_SECONDS}"
    return answer
