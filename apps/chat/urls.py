"""Where the pages are."""

from __future__ import annotations

from django.urls import URLPattern, path

from apps.chat import views

urlpatterns: list[URLPattern] = [
    path("", views.index, name="index"),
    path("chat/<slug:slug>/", views.chat, name="chat"),
    path("chat/<slug:slug>/<uuid:conversation>/", views.chat, name="conversation"),
    path("chat/<slug:slug>/<uuid:conversation>/rename/", views.rename, name="rename"),
    path("chat/<slug:slug>/<uuid:conversation>/delete/", views.delete, name="delete"),
]
