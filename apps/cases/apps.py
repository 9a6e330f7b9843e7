from django.apps import AppConfig


class CasesConfig(AppConfig):
    name = "apps.cases"
    verbose_name = "Cases"

    def ready(self) -> None:
        from apps.cases.models import CASE_KIND
        from apps.cases.publication import publication_problems
        from apps.catalog.history import recorder
        from apps.catalog.versions import publication

        recorder.connect(CASE_KIND)
        publication.checks.append(lambda row: publication_problems(row, row.manifest))
