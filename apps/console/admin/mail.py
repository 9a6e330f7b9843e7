"""Messages that something in the admin sends to people."""

import logging
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import admin, messages
from django.http import HttpRequest

logger = logging.getLogger(__name__)


def send(
    page: admin.ModelAdmin[Any], request: HttpRequest, template: str, address: str, **values: Any
) -> bool:
    """Send a message, if mail is sent at all; the page says so when that fails."""
    if not settings.SENDS_MAIL or not address:
        return False
    try:
        get_adapter().send_mail(template, address, values)
    except OSError:  # of the mail server
        logger.exception("A message of the admin could not be sent")
        page.message_user(request, f"No message could be sent to {address}.", messages.ERROR)
        return False
    return True
