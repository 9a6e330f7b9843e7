from __future__ import annotations

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "apps.catalog"
    verbose_name = "Catalog"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from apps.catalog import checks  # noqa: F401 registers itself
        from apps.catalog.content import checks as content_checks  # noqa: F401 as above
        from apps.catalog.history import recorder

        recorder.connect()
