"""Stores, tests and deletes users' own API keys for model services. The "Connections" page shows
these keys.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_POST

from apps.integers import read_integer
from apps.workspace.local.deployments.found_deployments import make_chat_model, read_row
from apps.workspace.local.deployments.personal_keys import (
    LONGEST_KEY,
    KeyService,
    key_services,
    store_key,
)
from apps.workspace.local.models import PersonalKey
from apps.workspace.local.secrets.field import UnreadableSecret
from apps.workspace.services.probe import SECONDS, probe

UNREADABLE = gettext_lazy("The saved key can no longer be read. Enter the key again.")


def key_entries(user: AbstractBaseUser | AnonymousUser) -> Sequence[Mapping[str, Any]]:
    """Return the services that accept users' own keys, each with the user's stored key. Services
    that no longer accept them are included if the user still has a key stored.
    """
    if not user.is_authenticated:
        return []
    stored = {(row.provider, row.origin): row for row in PersonalKey.objects.filter(user=user.pk)}
    entries: list[Mapping[str, Any]] = []
    for service in key_services():
        row = stored.pop((service.provider, service.origin), None)
        is_lost = row is not None and isinstance(row.key, UnreadableSecret)
        problem = UNREADABLE if is_lost else ""
        entries.append({"service": service, "host": service.host, "key": row, "problem": problem})
    left = sorted(stored.values(), key=lambda row: row.host)
    return [*entries, *({"service": None, "host": row.host, "key": row} for row in left)]


@login_required
@require_POST
def store(request: HttpRequest) -> HttpResponse:
    """Store the key in the form field `key` as the user's key for the selected service. It replaces
    the user's previous key.
    """
    service = chosen_service(request)
    key = request.POST.get("key", "").strip()
    if problem := key_problem(key):
        messages.error(request, f"{service.host}: {problem}")
    else:
        store_key(account_of(request), service, key)
        messages.success(
            request, gettext("Your key for {host} was saved.").format(host=service.host)
        )
    return redirect("connections")


@login_required
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Test the user's key by sending a small request to the selected service."""
    service = chosen_service(request)
    found = {"user": account_of(request), "provider": service.provider, "origin": service.origin}
    row = get_object_or_404(PersonalKey, **found)
    deployment = read_row(service.deployments[0]).with_key(row.key)
    result = async_to_sync(probe)(make_chat_model(deployment, SECONDS), SECONDS)
    tell = messages.success if result.failed is None else messages.error
    tell(request, f"{service.host}: {result.text}")
    return redirect("connections")


@login_required
@require_POST
def delete(request: HttpRequest) -> HttpResponse:
    """Delete the user's stored key whose ID is in the form field `key`."""
    number = read_integer(request.POST.get("key", ""))
    row = get_object_or_404(PersonalKey, user=account_of(request), pk=number)
    row.delete()
    messages.success(request, gettext("Your key for {host} was deleted.").format(host=row.host))
    return redirect("connections")


def chosen_service(request: HttpRequest) -> KeyService:
    name = request.POST.get("service", "")
    for service in key_services():
        if service.name == name:
            return service
    raise Http404("No service with this name accepts users' own keys.")


def key_problem(key: str) -> str:
    """Return why this text cannot be an API key, or "" if it can."""
    if not key:
        return gettext("Enter a key.")
    if len(key) > LONGEST_KEY:
        return gettext("A key can have at most {longest_key} characters.").format(
            longest_key=number_format(LONGEST_KEY, force_grouping=True)
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        return gettext("A key can contain only ASCII characters, without spaces.")
    return ""


def account_of(request: HttpRequest) -> int:
    """Return the signed-in user's primary key, or 0 for a visitor without an account."""
    return request.user.pk or 0
