"""Finds the user who is responsible for a schedule that a model saves."""

import logging
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey, ServiceAccount
from apps.catalog.acting_accounts import acting_problem

logger = logging.getLogger(__name__)

NOT_RESPONSIBLE = (
    "The schedule was not saved. It would act as a service account, which the user responsible for "
    "this run may not use. An operator who may manage the account must save the webhook or schedule "
    "again, or create the API key again."
)


def responsible_user(caller: Caller, account: int, unattended: Mapping[str, Any] | None) -> int:
    """Return the ID of the user who is responsible for schedules of the account `account`.

    For a user's account, this is the user. For a service account, it is the user who last saved the
    webhook or schedule that started the run, or who created the caller's API key. Raises
    `ValidationError` if that user may not use the service account.
    """
    if not ServiceAccount.objects.filter(user=account).exists():
        return account
    saver = find_saver(caller, unattended)
    problem = acting_problem(saver, account)
    if saver is None or problem:
        logger.warning("Refused a model's schedule for account %d: %s", account, problem)
        raise ValidationError(NOT_RESPONSIBLE)
    return saver.pk


def find_saver(caller: Caller, unattended: Mapping[str, Any] | None) -> User | None:
    if unattended is not None:
        number: int | None = unattended.get("saved_by")
        return None if number is None else User.objects.filter(pk=number).first()
    if caller.kind != "key":
        return None
    prefix = caller.bucket.removeprefix("key-")
    return User.objects.filter(
        pk__in=ApiKey.objects.filter(prefix=prefix).values("created_by")
    ).first()
