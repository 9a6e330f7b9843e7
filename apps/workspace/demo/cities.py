"""Well-known cities: what the demo model recognizes and the demo weather answers for."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class City:
    """`zone` is an IANA time zone."""

    name: str
    country: str
    zone: str


CITIES = (
    City("Accra", "Ghana", "Africa/Accra"),
    City("Addis Ababa", "Ethiopia", "Africa/Addis_Ababa"),
    City("Amsterdam", "Netherlands", "Europe/Amsterdam"),
    City("Athens", "Greece", "Europe/Athens"),
    City("Auckland", "New Zealand", "Pacific/Auckland"),
    City("Bangkok", "Thailand", "Asia/Bangkok"),
    City("Barcelona", "Spain", "Europe/Madrid"),
    City("Beijing", "China", "Asia/Shanghai"),
    City("Berlin", "Germany", "Europe/Berlin"),
    City("Bogotá", "Colombia", "America/Bogota"),
    City("Boston", "United States", "America/New_York"),
    City("Brussels", "Belgium", "Europe/Brussels"),
    City("Budapest", "Hungary", "Europe/Budapest"),
    City("Buenos Aires", "Argentina", "America/Argentina/Buenos_Aires"),
    City("Cairo", "Egypt", "Africa/Cairo"),
    City("Cape Town", "South Africa", "Africa/Johannesburg"),
    City("Chicago", "United States", "America/Chicago"),
    City("Copenhagen", "Denmark", "Europe/Copenhagen"),
    City("Delhi", "India", "Asia/Kolkata"),
    City("Denver", "United States", "America/Denver"),
    City("Dubai", "United Arab Emirates", "Asia/Dubai"),
    City("Dublin", "Ireland", "Europe/Dublin"),
    City("Helsinki", "Finland", "Europe/Helsinki"),
    City("Hong Kong", "China", "Asia/Hong_Kong"),
    City("Honolulu", "United States", "Pacific/Honolulu"),
    City("Istanbul", "Turkey", "Europe/Istanbul"),
    City("Jakarta", "Indonesia", "Asia/Jakarta"),
    City("Johannesburg", "South Africa", "Africa/Johannesburg"),
    City("Kathmandu", "Nepal", "Asia/Kathmandu"),
    City("Kraków", "Poland", "Europe/Warsaw"),
    City("Kyiv", "Ukraine", "Europe/Kyiv"),
    City("Lagos", "Nigeria", "Africa/Lagos"),
    City("Lima", "Peru", "America/Lima"),
    City("Lisbon", "Portugal", "Europe/Lisbon"),
    City("London", "United Kingdom", "Europe/London"),
    City("Los Angeles", "United States", "America/Los_Angeles"),
    City("Madrid", "Spain", "Europe/Madrid"),
    City("Melbourne", "Australia", "Australia/Melbourne"),
    City("Mexico City", "Mexico", "America/Mexico_City"),
    City("Minsk", "Belarus", "Europe/Minsk"),
    City("Montreal", "Canada", "America/Toronto"),
    City("Mumbai", "India", "Asia/Kolkata"),
    City("Nairobi", "Kenya", "Africa/Nairobi"),
    City("New York", "United States", "America/New_York"),
    City("Oslo", "Norway", "Europe/Oslo"),
    City("Paris", "France", "Europe/Paris"),
    City("Prague", "Czechia", "Europe/Prague"),
    City("Reykjavik", "Iceland", "Atlantic/Reykjavik"),
    City("Riga", "Latvia", "Europe/Riga"),
    City("Rio de Janeiro", "Brazil", "America/Sao_Paulo"),
    City("Rome", "Italy", "Europe/Rome"),
    City("San Francisco", "United States", "America/Los_Angeles"),
    City("Santiago", "Chile", "America/Santiago"),
    City("São Paulo", "Brazil", "America/Sao_Paulo"),
    City("Seoul", "South Korea", "Asia/Seoul"),
    City("Singapore", "Singapore", "Asia/Singapore"),
    City("Stockholm", "Sweden", "Europe/Stockholm"),
    City("Sydney", "Australia", "Australia/Sydney"),
    City("Tallinn", "Estonia", "Europe/Tallinn"),
    City("Tashkent", "Uzbekistan", "Asia/Tashkent"),
    City("Tbilisi", "Georgia", "Asia/Tbilisi"),
    City("Tokyo", "Japan", "Asia/Tokyo"),
    City("Toronto", "Canada", "America/Toronto"),
    City("Vancouver", "Canada", "America/Vancouver"),
    City("Vienna", "Austria", "Europe/Vienna"),
    City("Vilnius", "Lithuania", "Europe/Vilnius"),
    City("Warsaw", "Poland", "Europe/Warsaw"),
    City("Yerevan", "Armenia", "Asia/Yerevan"),
    City("Zürich", "Switzerland", "Europe/Zurich"),
)


def folded(text: str) -> str:
    """Lower case without accents, one space between words: how names are compared."""
    bare = "".join(
        character
        for character in unicodedata.normalize("NFKD", text)
        if not unicodedata.combining(character)
    )
    return " ".join(bare.casefold().split())


_by_name = {folded(city.name): city for city in CITIES}

mentions = re.compile(
    r"\b(?:"
    + "|".join(
        re.escape(name)
        for name in sorted(
            {city.name for city in CITIES} | {folded(city.name) for city in CITIES},
            key=len,
            reverse=True,
        )
    )
    + r")\b",
    re.IGNORECASE,
)
"""Finds the names of known cities in a text, with and without their accents."""


def find_city(name: str) -> City | None:
    return _by_name.get(folded(name))


def similar_cities(name: str) -> list[str]:
    """At most three names that are spelled alike."""
    near = get_close_matches(folded(name), _by_name, n=3, cutoff=0.7)
    return [_by_name[key].name for key in near]
