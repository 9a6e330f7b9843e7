from django.apps import AppConfig

from apps.admin_pages import AdminPage


class SchedulesConfig(AppConfig):
    name = "apps.schedules"
    verbose_name = "Schedules"
    admin_pages = (
        AdminPage(
            "Automate",
            10,
            "Schedules",
            "clock",
            "schedules.schedule",
            "Messages that are sent to applications at set times, for a user or a service account.",
        ),
    )
