from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "apps.live"
    label = "runs"  # tables and migrations of existing installations are named after it
    verbose_name = "Runs"
