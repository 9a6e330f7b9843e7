from __future__ import annotations

from django.urls import URLPattern, path

from apps.workspace.demo.places import place
from apps.workspace.demo.weather import weather

urlpatterns: list[URLPattern] = [
    path("weather", weather, name="demo-weather"),
    path("place", place, name="demo-place"),
]
