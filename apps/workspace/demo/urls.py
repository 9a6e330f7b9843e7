from __future__ import annotations

from django.urls import URLPattern, path

from apps.workspace.demo.weather import weather

urlpatterns: list[URLPattern] = [path("weather", weather, name="demo-weather")]
