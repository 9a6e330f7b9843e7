"""Where the page's consumers are."""

from __future__ import annotations

from django.urls import URLPattern

http_urlpatterns: list[URLPattern] = []
websocket_urlpatterns: list[URLPattern] = []
