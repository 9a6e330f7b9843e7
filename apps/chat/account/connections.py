"""The page on which users connect and disconnect their accounts on other services."""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from apps.chat.account.key_page import key_entries
from apps.chat.visitors import visitor
from apps.errors import Refused, ToolError
from apps.live.elicitations import YOU
from apps.live.hub import HUB
from apps.live.interactions import resolve_all
from apps.live.journal.notifications import announce_waiting, wake_viewers
from apps.live.models import Interaction, Run
from apps.workspace.local.models import ToolAccount
from apps.workspace.oauth import sign_ins
from apps.workspace.oauth.clients import metadata_document

logger = logging.getLogger(__name__)

LISTED = 500
CONNECTED: Mapping[str, Any] = {"outcome": "connected"}
TRIES = 20
TRY_SECONDS = 0.5


@require_GET
@never_cache
def connect(request: HttpRequest, account: UUID) -> HttpResponse:
    """Redirect the user to the service's sign-in page. Sign-in cards in answers link here."""
    caller = visitor(request)
    found = get_object_or_404(ToolAccount, pk=account, bucket=caller.bucket)
    if found.connected_at is not None:  # Already connected by another card or in another tab.
        return finish_connection(request, found)
    redirect_url = request.build_absolute_uri(reverse("connect-callback"))
    try:
        url = async_to_sync(sign_ins.begin)(found.pk, caller.bucket, redirect_url)
    except ToolError as error:
        return not_connected(request, error, 502)
    return HttpResponseRedirect(url)


@require_safe
@cache_control(public=True, max_age=3600)
def client_metadata(request: HttpRequest) -> HttpResponse:
    """Return the OAuth client metadata document that identifies this installation to authorization
    servers.
    """
    return JsonResponse(metadata_document())


@require_GET
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    """Complete a connection after the authorization server has redirected the user back."""
    caller = visitor(request)
    try:
        account = async_to_sync(sign_ins.complete)(caller.bucket, request.GET.dict())
    except ToolError as error:
        return not_connected(request, error, 400)
    return finish_connection(request, account)


def finish_connection(request: HttpRequest, account: ToolAccount) -> HttpResponse:
    async_to_sync(resume_waiting_runs)(account)
    return render(request, "chat/connected.html", {"account": account})


def not_connected(request: HttpRequest, error: ToolError, status: int) -> HttpResponse:
    return render(request, "chat/connected.html", {"problem": str(error)}, status=status)


async def resume_waiting_runs(account: ToolAccount) -> None:
    """Resume the runs that are waiting for the user to sign in to this account. If a run is busy, a
    background task retries every 0.5 seconds for 10 seconds.
    """
    busy = await resume(await database_sync_to_async(waiting_runs)(account), account)
    if busy:
        HUB.hold(retry_busy_runs(busy, account))


async def retry_busy_runs(runs: list[Run], account: ToolAccount) -> None:
    for _ in range(TRIES):
        await asyncio.sleep(TRY_SECONDS)
        if not (runs := await resume(runs, account)):
            return
    logger.warning("%d runs were not resumed after a sign-in because they were busy", len(runs))


async def resume(runs: list[Run], account: ToolAccount) -> list[Run]:
    """Mark the runs' sign-in cards for this account as answered, so that the runs resume. Return
    the busy runs. A run is busy if the user has just answered another of its cards.
    """
    busy = []
    for run in runs:
        try:
            await database_sync_to_async(partial(answer_cards, run, account))()
        except Refused as refusal:
            if refusal.code == "run_going":
                busy.append(run)
        else:
            HUB.awaited.set()
            await wake_viewers(HUB.streams, run.stream)
            await announce_waiting()
    return busy


def cards_of(account: ToolAccount) -> Any:
    return Interaction.objects.filter(
        kind="sign_in",
        answer__isnull=True,
        asked__account=str(account.pk),
        run__bucket=account.bucket,
        run__status__in=Run.OPEN,
    )


def waiting_runs(account: ToolAccount) -> list[Run]:
    return list(Run.objects.filter(pk__in=cards_of(account).values("run")))


@transaction.atomic
def answer_cards(run: Run, account: ToolAccount) -> None:
    """Mark the run's sign-in cards for this account as answered. Raises `Refused` if the run is
    busy.
    """
    cards = list(cards_of(account).filter(run=run))
    if cards:
        resolve_all(run, cards, CONNECTED, account.bucket, YOU)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def connections(request: HttpRequest) -> HttpResponse:
    """Show the user's connected accounts. A POST disconnects the account whose ID is in the form
    field `account`.
    """
    caller = visitor(request)
    mine = ToolAccount.objects.filter(bucket=caller.bucket, connected_at__isnull=False)
    if request.method == "POST":
        chosen = get_object_or_404(mine, pk=read_id(request.POST.get("account", "")))
        async_to_sync(sign_ins.disconnect)(chosen)
        return redirect("connections")
    entries = [
        {"account": account, "host": urlsplit(account.server).netloc}
        for account in mine.order_by("title", "server", "pk")[:LISTED]
    ]
    shown = {"entries": entries, "keys": key_entries(request.user)}
    return render(request, "chat/connections.html", shown)


def read_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
