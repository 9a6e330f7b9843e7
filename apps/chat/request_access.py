"""Whether people can read what models were asked for their own answers."""

from django.conf import settings


def are_shown() -> bool:
    return settings.MODEL_REQUESTS != "none" and settings.MODEL_REQUESTS_SHOWN
