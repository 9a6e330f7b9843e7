from django.apps import AppConfig


class TriggersConfig(AppConfig):
    name = "apps.triggers"
    verbose_name = "Triggers"
