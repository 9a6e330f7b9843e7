from django.apps import AppConfig

from apps.chores import Chore


class ResponsesConfig(AppConfig):
    name = "apps.responses"
    verbose_name = "Responses"
    chores = (
        Chore(
            "Erase stored responses",
            "apps.responses.retention.erase_old",
            days="RESPONSE_DAYS",
        ),
    )
