"""The URL patterns of the "Scheduled" page."""

from django.urls import URLPattern, path

from apps.chat.scheduled import pages

urlpatterns: list[URLPattern] = [
    path("", pages.schedules, name="schedules"),
    path("new/", pages.add, name="schedule-add"),
    path("preview/", pages.preview, name="schedule-preview"),
    path("<uuid:pk>/", pages.edit, name="schedule-edit"),
    path("<uuid:pk>/run/", pages.run, name="schedule-run"),
    path("<uuid:pk>/pause/", pages.pause, name="schedule-pause"),
    path("<uuid:pk>/resume/", pages.resume, name="schedule-resume"),
    path("<uuid:pk>/agree/", pages.agree, name="schedule-agree"),
    path("<uuid:pk>/take-back/", pages.reject, name="schedule-take-back"),
    path("<uuid:pk>/delete/", pages.delete, name="schedule-delete"),
]
