from django.apps import AppConfig


class InsightsConfig(AppConfig):
    name = "apps.insights"
    verbose_name = "Insights"

    def ready(self) -> None:
        from apps.catalog.history import recorder
        from apps.insights.budgets.models import BUDGET_KIND
        from apps.insights.prices import PRICE_KIND

        recorder.connect(PRICE_KIND, BUDGET_KIND)
