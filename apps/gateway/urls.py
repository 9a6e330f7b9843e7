"""The API for editors of manifests, under /v1/configuration-support/."""

from django.urls import URLPattern, path, re_path

from apps.catalog.json_views import nowhere
from apps.gateway import support

urlpatterns: list[URLPattern] = [
    path("application-schema", support.application_schema),
    path("default-configuration", support.default_configuration),
    path("skills", support.skills),
    path("skills/validate", support.validate_skill),
    path("validate", support.validate),
    re_path(r"", nowhere),
]
