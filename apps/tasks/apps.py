from django.apps import AppConfig

from apps.admin_pages import AdminPage
from apps.chores import Chore, Interval


class TasksConfig(AppConfig):
    name = "apps.tasks"
    verbose_name = "Tasks"
    default_auto_field = "django.db.models.BigAutoField"
    admin_pages = (
        AdminPage(
            "Watch",
            60,
            "Background jobs",
            "refresh-cw",
            "tasks.chorerun",
            "The recurring work of the server, and when it last ran.",
        ),
        AdminPage(
            "Watch",
            61,
            "Failed jobs",
            "",
            "tasks.taskfailure",
            "Background jobs that raised an error. Failed attempts are listed here until they are deleted.",
            below="Background jobs",
        ),
    )
    chores = (Chore("Delete failed jobs", "apps.tasks.failures.delete_old", Interval.DAY),)
