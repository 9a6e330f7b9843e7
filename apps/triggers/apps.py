from django.apps import AppConfig


class TriggersConfig(AppConfig):
    name = "apps.triggers"
    verbose_name = "Triggers"

    def ready(self) -> None:
        from apps.catalog.history import recorder
        from apps.triggers.models import SUBSCRIPTION_KIND, WEBHOOK_KIND

        recorder.connect(WEBHOOK_KIND, SUBSCRIPTION_KIND)
