"""The part of the page "Connections" where people keep keys of their own for models' services."""

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
from apps.workspace.local.deployments import read_row
from apps.workspace.local.models import PersonalKey
from apps.workspace.local.personal_keys import (
    LONGEST_KEY,
    KeyService,
    key_services,
    store_key,
)
from apps.workspace.local.personal_models import with_key
from apps.workspace.local.providers import make_chat_model
from apps.workspace.local.secrets import UnreadableSecret
from apps.workspace.services.probe import SECONDS, probe

UNREADABLE = gettext_lazy("It cannot be read any more, so it is not used. Enter it again.")


def key_entries(user: AbstractBaseUser | AnonymousUser) -> Sequence[Mapping[str, Any]]:
    """The services that take keys of people, and the keys that no service takes any more."""
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
    """The form fields are `service` and `key`, which replaces one that is stored."""
    service = chosen_service(request)
    key = request.POST.get("key", "").strip()
    if problem := key_problem(key):
        messages.error(request, f"{service.host}: {problem}")
    else:
        store_key(account_of(request), service, key)
        messages.success(
            request, gettext("Your key for {host} is stored.").format(host=service.host)
        )
    return redirect("connections")


@login_required
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Ask the service one small question with the person's key, for at most `SECONDS`."""
    service = chosen_service(request)
    found = {"user": account_of(request), "provider": service.provider, "origin": service.origin}
    row = get_object_or_404(PersonalKey, **found)
    deployment = with_key(read_row(service.deployments[0]), row.key)
    result = async_to_sync(probe)(make_chat_model(deployment, SECONDS), SECONDS)
    tell = messages.success if result.failed is None else messages.error
    tell(request, f"{service.host}: {result.text}")
    return redirect("connections")


@login_required
@require_POST
def delete(request: HttpRequest) -> HttpResponse:
    """The form field is the number of the `key`."""
    number = read_integer(request.POST.get("key", ""))
    row = get_object_or_404(PersonalKey, user=account_of(request), pk=number)
    row.delete()
    messages.success(request, gettext("Your key for {host} is deleted.").format(host=row.host))
    return redirect("connections")


def chosen_service(request: HttpRequest) -> KeyService:
    name = request.POST.get("service", "")
    for service in key_services():
        if service.name == name:
            return service
    raise Http404("No service of that name takes keys of people.")


def key_problem(key: str) -> str:
    """Why it is no key; "" if it may be one."""
    if not key:
        return gettext("Enter a key.")
    if len(key) > LONGEST_KEY:
        return gettext("A key has at most {longest_key} characters.").format(
            longest_key=number_format(LONGEST_KEY, force_grouping=True)
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        return gettext("A key has no spaces, and no characters but those of ASCII.")
    return ""


def account_of(request: HttpRequest) -> int:
    """The id of the account, behind `login_required`."""
    return request.user.pk or 0
