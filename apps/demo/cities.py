"""Lists well-known cities for the demo model and the demo's services."""

import csv
import re
import unicodedata
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path


@dataclass(frozen=True, slots=True)
class City:
    """A city. `time_zone` is an IANA name. Latitude (north) and longitude (east) are in degrees."""

    name: str
    country: str
    time_zone: str
    latitude: float
    longitude: float


def fold_name(text: str) -> str:
    """Return a name in lower case, without accents and with single spaces, so that names can be
    compared.
    """
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(sign for sign in decomposed if not unicodedata.combining(sign))
    return " ".join(bare.casefold().split())


with Path(__file__).with_name("cities.csv").open(encoding="utf-8", newline="") as _file:
    CITIES = tuple(
        City(name, country, zone, float(latitude), float(longitude))
        for name, country, zone, latitude, longitude in list(csv.reader(_file))[1:]
    )

_by_name = {fold_name(city.name): city for city in CITIES}

NAMES = "|".join(
    re.escape(name)
    for name in sorted({*_by_name, *(city.name for city in CITIES)}, key=len, reverse=True)
)
"""A pattern that matches all city names, with and without accents. Longer names come first, so that
they match as a whole.
"""


def find_city(name: str) -> City | None:
    return _by_name.get(fold_name(name))


def similar_cities(name: str) -> list[str]:
    """Return up to three cities whose names have a similar spelling."""
    near = get_close_matches(fold_name(name), _by_name, n=3, cutoff=0.7)
    return [_by_name[key].name for key in near]
