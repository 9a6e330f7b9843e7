"""Sends email from the admin to users."""

import logging
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest

logger = logging.getLogger(__name__)


def send_message(
    page: admin.ModelAdmin[Any], request: HttpRequest, template: str, address: str, **values: Any
) -> bool:
    """Send an email to a user, and return True if it was sent. Reports a failure on the admin page.

    Returns False if the server sends no email or the user has no address.
    """
    if not settings.SENDS_MAIL or not address:
        return False
    try:
        get_adapter().send_mail(template, address, values)
    except OSError:  # Raised if the mail server fails.
        logger.exception("Could not send an email from the admin")
        page.message_user(request, f"The email to {address} could not be sent.", messages.ERROR)
        return False
    return True
