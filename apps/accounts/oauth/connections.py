"""Connects programs to users' accounts, lists them and disconnects them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.idp.oidc.models import Token
from django.db import transaction
from django.db.models import QuerySet

from apps.accounts import audit
from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import bucket_of
from apps.accounts.oauth.resources import slug_of
from apps.accounts.oauth.rows import CONNECTED, Program, ProgramConnection


@dataclass(frozen=True, slots=True)
class ConnectedProgram:
    """A program with access to a user's account."""

    client_id: str
    name: str
    host: str
    """The host of the program's metadata document, or "" if it has none."""
    slugs: tuple[str, ...]
    """The slugs of the applications that the program can use. "" means all applications."""
    teams: tuple[str, ...]
    """The names of the teams in which the program acts."""
    last_used_at: datetime | None


def programs_of(user_id: int) -> list[ConnectedProgram]:
    """Return the user's connected programs, the most recently connected first."""
    found: dict[str, list[ProgramConnection]] = {}
    rows = ProgramConnection.objects.filter(user=user_id)
    for row in rows.select_related("program", "team__group"):
        found.setdefault(row.program.pk, []).append(row)
    return [connected_program(rows) for rows in found.values()]


def connected_program(rows: list[ProgramConnection]) -> ConnectedProgram:
    program = rows[0].program
    used = [row.last_used_at for row in rows if row.last_used_at is not None]
    slugs = tuple(row.slug for row in rows)
    teams = tuple({str(row.team): None for row in rows if row.team is not None})
    last_used = max(used, default=None)
    return ConnectedProgram(program.pk, program.name, program.host, slugs, teams, last_used)


@transaction.atomic
def connect(user: Any, client_id: str, slug: str, team: int | None, address: str) -> bool:
    """Record the user's permission for the program to act in a team, or outside teams if `team` is
    None. It replaces an earlier permission for another team.

    Return False if the program is blocked or no longer exists.
    """
    program = Program.objects.select_for_update().filter(pk=client_id).first()
    if program is None or program.is_blocked:
        return False
    if not program.flag(CONNECTED):
        program.set_flag(CONNECTED, on=True)
        program.save(update_fields=["data"])
    rows = ProgramConnection.objects.filter(user=user, program=program, slug=slug)
    if rows.exclude(team=team).delete()[0]:
        delete_useless_tokens(user.pk, client_id)
    row, _ = rows.get_or_create(user=user, program=program, slug=slug, defaults={"team_id": team})
    where = "" if row.team is None else f" in {row.team}"
    record("program.connected", program, user.pk, address, where)
    return True


@transaction.atomic
def disconnect(user: Any, client_id: str, address: str) -> bool:
    """Disconnect a program from the user's account. Return False if it is not connected."""
    rows = ProgramConnection.objects.filter(user=user.pk, program=client_id)
    first = rows.select_related("program").first()
    if first is None:
        return False
    rows.delete()
    delete_useless_tokens(user.pk, client_id)
    record("program.disconnected", first.program, user.pk, address)
    return True


@transaction.atomic
def end_connections(rows: QuerySet[ProgramConnection], operator: Any, address: str) -> int:
    """Disconnect programs for an operator. Return the number of ended connections."""
    ended = list(rows.select_related("program", "user"))
    ProgramConnection.objects.filter(pk__in=[row.pk for row in ended]).delete()
    for user_id, client_id in {(row.user.pk, row.program.pk) for row in ended}:
        delete_useless_tokens(user_id, client_id)
    for row in ended:
        record("program.disconnected", row.program, operator.pk, address, f" of {row.user}")
    return len(ended)


def record(event: Event, program: Program, actor: int, address: str, details: str = "") -> None:
    audit.record(AuditEvent(event, bucket_of(actor), address, subject=f"{program}{details}"))


# --- Tokens -----------------------------------------------------------------------------------


def find_connection(token: Token) -> ProgramConnection | None:
    """Return the connection to which a token belongs, or None if the program was disconnected."""
    rows = ProgramConnection.objects.filter(
        user=token.user_id, program=token.client_id, slug__in=slugs_of(token)
    )
    return rows.select_related("user").first()


def is_connected(access_token: str) -> bool:
    """Return True if the token's program is still connected to the user's account."""
    token = Token.objects.lookup(Token.Type.ACCESS_TOKEN, access_token)
    return token is not None and find_connection(token) is not None


def slugs_of(token: Token) -> set[str]:
    found = map(slug_of, token.get_resources())
    return {slug for slug in found if slug is not None}


def delete_useless_tokens(user_id: int, client_id: str) -> None:
    """Delete a program's tokens for the user that no longer belong to a connection."""
    kept = set(
        ProgramConnection.objects.filter(user=user_id, program=client_id).values_list(
            "slug", flat=True
        )
    )
    tokens = Token.objects.filter(user=user_id, client=client_id)
    useless = [row.pk for row in tokens if kept.isdisjoint(slugs_of(row))]
    Token.objects.filter(pk__in=useless).delete()
