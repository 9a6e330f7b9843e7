from django.apps import AppConfig


class CasesConfig(AppConfig):
    name = "apps.cases"
    verbose_name = "Cases"

    def ready(self) -> None:
        from apps.cases.documents import case_documents, save_case
        from apps.cases.models import CASE_KIND
        from apps.cases.publication import publication_problems
        from apps.catalog.application_files.parts import CaseFiles, connect_cases
        from apps.catalog.history import recorder
        from apps.catalog.versions import publication

        recorder.connect(CASE_KIND)
        publication.checks.append(lambda row: publication_problems(row, row.manifest))
        connect_cases(CaseFiles(case_documents, save_case))
