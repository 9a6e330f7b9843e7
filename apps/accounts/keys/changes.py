"""Records changes to API keys in the audit log, and emails the owners of changed keys."""

import logging
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from rest_framework_api_key.models import AbstractAPIKey

from apps.accounts import audit
from apps.accounts.audit import AuditEvent
from apps.accounts.caller import bucket_of

logger = logging.getLogger(__name__)

KeyEvent = Literal["key.created", "key.changed", "key.revoked"]


def record_key(event: KeyEvent, key: AbstractAPIKey, actor: Any = None, address: str = "") -> None:
    """Record a change to an API key in the audit log. If `actor` is not the key's owner, also email
    the owner after the commit.

    `actor` is None if the key was changed on the command line.
    """
    owner = getattr(key, "user", None)
    whose = f"of {owner.get_username()}" if owner is not None else "of the installation"
    by = "" if actor is None else bucket_of(actor.pk)
    kind = key._meta.verbose_name
    audit.record(AuditEvent(event, by, address, subject=f"{kind} {key.prefix} {whose}"))
    if owner is not None and (actor is None or actor.pk != owner.pk):
        transaction.on_commit(partial(send_notice, event, key, owner, actor))


def send_notice(event: KeyEvent, key: AbstractAPIKey, owner: Any, actor: Any) -> None:
    if not settings.SENDS_MAIL or not owner.email:
        return
    values = {
        "event": event,
        "key_name": key.name,
        "actor": "" if actor is None else actor.get_username(),
        "keys_url": f"{settings.PUBLIC_URL}/account/#keys",
        "current_site": {"domain": urlsplit(settings.PUBLIC_URL).netloc},
    }
    try:
        with translation.override(settings.LANGUAGE_CODE):
            subject = render_to_string("account/email/key_changed_subject.txt", values).strip()
            text = render_to_string("account/email/key_changed_message.txt", values)
        send_mail(subject, text, settings.DEFAULT_FROM_EMAIL, [owner.email])
    except OSError:  # An error from the mail server.
        logger.exception(
            "Failed to notify the owner of the key %s about this event: %s", key.prefix, event
        )
