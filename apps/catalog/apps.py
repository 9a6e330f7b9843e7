from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "apps.catalog"
    verbose_name = "Applications"
    default_auto_field = "django.db.models.BigAutoField"
