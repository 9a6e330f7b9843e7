"""Where the pages are: below an application of the admin."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, path

from apps.console.workbench import views

app_name = "workbench"
staff = admin.site.admin_view

urlpatterns: list[URLPattern] = [
    path("", staff(views.toolsets), name="toolsets"),
    path("<slug:place>/", staff(views.toolset), name="toolset"),
    path("<slug:place>/<slug:name>/", staff(views.tool), name="tool"),
]
