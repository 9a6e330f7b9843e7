"""Registers, blocks and deletes the programs (OAuth clients) that users can connect."""

import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from allauth.idp.oidc.models import Token
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.accounts import audit
from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import bucket_of
from apps.accounts.oauth.clients import prepare_client
from apps.accounts.oauth.rows import (
    BLOCKED,
    CONNECTED,
    DESCRIBED,
    REGISTERED_ITSELF,
    Program,
    ProgramConnection,
)
from apps.errors import Refused
from apps.old_rows import delete

MOST_REGISTERED = 500
"""The maximum number of programs that operators can register."""
UNCONNECTED = timedelta(days=1)
"""The time after which programs that no user has connected are deleted."""
MOST_UNCONNECTED = 1000
"""The maximum number of stored programs that no user has connected. If another client registers,
the oldest of these programs is deleted.
"""
BY_THEMSELVES = Q(data__has_key=REGISTERED_ITSELF) | Q(data__has_key=DESCRIBED)


def listed_programs() -> QuerySet[Program]:
    """Return the programs that a user has connected, or that an operator registered or blocked."""
    return Program.objects.exclude(pk__in=unconnected().order_by().values("pk"))


def prepare_program(program: Program) -> str:
    """Prepare a new program that an operator registers. Return its secret, or "" for a public
    client.

    Raises `Refused` if there are too many programs, and `ValidationError` for invalid metadata.
    """
    if Program.objects.exclude(BY_THEMSELVES).count() >= MOST_REGISTERED:
        raise Refused(
            "too_many_programs",
            f"The maximum number of registered programs is {MOST_REGISTERED}. Delete one first.",
        )
    program.set_grant_types(["authorization_code", "refresh_token"])
    program.data = {}
    prepare_client(program)
    return new_secret(program) if program.is_confidential else ""


def new_secret(program: Program) -> str:
    """Set a new secret on the unsaved program and return it. Only its hash is stored."""
    secret = secrets.token_urlsafe(32)
    program.set_secret(secret)
    return secret


def record_program(event: Event, program: Program, actor: Any, address: str) -> None:
    audit.record(AuditEvent(event, bucket_of(actor.pk), address, subject=str(program)))


@transaction.atomic
def set_blocked(programs: Iterable[str], actor: Any, address: str, *, on: bool) -> int:
    """Block the programs with these IDs and disconnect them from all users, or unblock them. Return
    the number of changed programs.
    """
    rows = Program.objects.filter(pk__in=programs).select_for_update().order_by("pk")
    changed = [program for program in rows if program.is_blocked != on]
    for program in changed:
        program.set_flag(BLOCKED, on=on)
        program.save(update_fields=["data"])
        record_program("program.blocked" if on else "program.unblocked", program, actor, address)
    if on:
        ProgramConnection.objects.filter(program__in=changed).delete()
        Token.objects.filter(client__in=changed).delete()
    return len(changed)


# --- Clean-up ---------------------------------------------------------------------------------


def unconnected() -> QuerySet[Program]:
    """Return the programs that no operator has registered or blocked and no user has connected,
    newest first.
    """
    rows = Program.objects.filter(BY_THEMSELVES)
    rows = rows.exclude(data__has_any_keys=[CONNECTED, BLOCKED])
    return rows.order_by("-created_at", "pk")


def delete_excess() -> None:
    """Delete the oldest unconnected programs if there are more than `MOST_UNCONNECTED`."""
    excess = list(unconnected().values_list("pk", flat=True)[MOST_UNCONNECTED:])
    Program.objects.filter(pk__in=excess).delete()


def delete_unconnected() -> int:
    return delete(unconnected().filter(created_at__lt=timezone.now() - UNCONNECTED))


def delete_expired_tokens() -> int:
    """Delete expired tokens, and the connections of programs without tokens. Return the number of
    deleted tokens.
    """
    deleted = delete(Token.objects.expired().order_by("expires_at"))
    tokens = Token.objects.filter(user=OuterRef("user"), client=OuterRef("program"))
    # A program that was just connected has not exchanged its code yet.
    old = ProgramConnection.objects.filter(connected_at__lt=timezone.now() - UNCONNECTED)
    delete(old.exclude(Exists(tokens)).order_by("pk"))
    return deleted
