from django.apps import AppConfig


class CasesConfig(AppConfig):
    name = "apps.cases"
    verbose_name = "Cases"

    def ready(self) -> None:
        from apps.cases.models import CASE_KIND
        from apps.catalog.history import recorder

        recorder.connect(CASE_KIND)
