"""The API for scripts, its description, and the page that shows it."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from apps.console.api.applications import ApplicationViewSet
from apps.console.api.deployments import DeploymentViewSet
from apps.console.api.page import docs

router = SimpleRouter()
router.register("applications", ApplicationViewSet)
router.register("deployments", DeploymentViewSet)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include(router.urls)),
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", docs, name="api-docs"),
]
