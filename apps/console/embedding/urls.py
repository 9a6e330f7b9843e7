"""Below `/dial/editor/`, which is what DIAL Core is told."""

from __future__ import annotations

from django.urls import URLPattern, path

from apps.console.embedding import views

urlpatterns: list[URLPattern] = [
    path("", views.editor, name="dial-editor"),
    path("check/", views.check_kept, name="dial-editor-check"),
    path("signed-in/", views.signed_in, name="dial-editor-signed-in"),
]
