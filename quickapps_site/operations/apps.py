"""Configures the Django app for the operators' commands and the environment check."""

from django.apps import AppConfig

from quickapps_site.operations import removed_settings  # noqa: F401 - its check registers itself


class OperationsConfig(AppConfig):
    name = "quickapps_site.operations"
