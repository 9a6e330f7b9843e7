from django.apps import AppConfig

from apps.admin_pages import AdminPage


class CasesConfig(AppConfig):
    name = "apps.cases"
    verbose_name = "Cases"
    admin_pages = (
        AdminPage(
            "Build",
            11,
            "Test cases",
            "",
            "cases.case",
            "Questions with expected answers, which test an application before it is published.",
            row="test case",
            below="Applications",
        ),
        AdminPage(
            "Build",
            12,
            "Test runs",
            "",
            "cases.caserun",
            "Runs of test cases on a draft or a published version, with their results.",
            row="test run",
            below="Applications",
        ),
    )
    recorded_kinds = ("apps.cases.models.CASE_KIND",)

    def ready(self) -> None:
        # Models can be imported only after all apps are registered.
        from apps.cases import background  # noqa: F401 - it declares a task
        from apps.cases.documents import case_documents, save_case
        from apps.cases.publication import publication_problems
        from apps.catalog.actions import go_live
        from apps.catalog.application_files import parts

        go_live.checks.connect(publication_problems)
        parts.case_documents.connect(case_documents)
        parts.case_savers.connect(save_case)
