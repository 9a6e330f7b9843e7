from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "apps.runs"
    verbose_name = "Runs"
    default_auto_field = "django.db.models.BigAutoField"
