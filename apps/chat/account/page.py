"""The account page: profile, devices, API keys, connected programs and notifications."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, logout
from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.client_address import address_of
from apps.accounts.keys import new_keys
from apps.accounts.keys.own_keys import KEYS_PER_PERSON, keys_of, make_key, revoke_own_key
from apps.accounts.models import Picture, Team
from apps.accounts.oauth.connections import disconnect, programs_of
from apps.accounts.sign_in.second_factors import lacks_factor
from apps.accounts.sign_in.sessions import browser_of, sessions_of
from apps.chat.account.forms import NameForm, OwnKeyForm, PictureForm
from apps.chat.account.notice_form import NoticeForm
from apps.chat.file_views import LOCKED
from apps.chat.saved_forms import is_sent_by_script, keep_changed_fields, problems_of, saved
from apps.chat.visitors import account_user, visitor
from apps.doors.sessions import announce_end
from apps.errors import Refused

NEW_KEY = "new_key"
"""The session key under which the prefix of a new API key is stored until the page has shown the
key once.
"""


@login_required
@require_safe
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **forms: Any) -> HttpResponse:
    """Render the account page. `forms` contains submitted forms with errors, which replace the
    forms with the same names.
    """
    user, caller = account_user(request), visitor(request)
    factors = list(Authenticator.objects.filter(user=user).order_by("created_at"))
    prefix = request.session.pop(NEW_KEY, "")
    context = {
        "name_form": NameForm({"name": user.get_full_name()}),
        "picture_form": PictureForm(),
        "picture": Picture.objects.filter(user=user).values("user_id", "changed_at").first(),
        "has_totp": any(one.type == Authenticator.Type.TOTP for one in factors),
        "passkeys": [one for one in factors if one.type == Authenticator.Type.WEBAUTHN],
        "has_second_factor": any(one.type != Authenticator.Type.RECOVERY_CODES for one in factors),
        "lacks_factor": lacks_factor(user),
        "codes_left": codes_left(factors),
        "sends_mail": settings.SENDS_MAIL,
        "sessions": [(row, browser_of(row.user_agent)) for row in sessions_of(user.pk)],
        "keys": keys_of(user.pk),
        "key_form": OwnKeyForm(caller) if settings.PERSONAL_API_KEYS else None,
        "team": Team.objects.filter(pk=caller.team or 0).first(),
        "most_keys": KEYS_PER_PERSON,
        "new_key": new_keys.pop_new_key(request.session, prefix) if prefix else "",
        "programs": programs_of(user.pk),
        "now": timezone.now(),
        "notice_form": NoticeForm(user),
        **forms,
    }
    return render(request, "chat/account_page.html", context, status=status)


def codes_left(factors: list[Authenticator]) -> int:
    rows = [one for one in factors if one.type == Authenticator.Type.RECOVERY_CODES]
    return sum(len(row.wrap().get_unused_codes()) for row in rows)


@login_required
@require_POST
def change_name(request: HttpRequest) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        if is_sent_by_script(request):
            return problems_of(form)
        return page(request, 400, name_form=form)
    user = account_user(request)
    if form.cleaned_data["name"] != user.get_full_name():
        user.first_name, user.last_name = form.cleaned_data["name"], ""
        user.save(update_fields=["first_name", "last_name"])
    return saved(request, gettext("Saved."), "account")


@login_required
@require_POST
def change_notices(request: HttpRequest) -> HttpResponse:
    form = NoticeForm(account_user(request), request.POST)
    keep_changed_fields(request, form)
    if not form.is_valid():
        if is_sent_by_script(request):
            return problems_of(form)
        return page(request, 400, notice_form=form)
    form.save()
    return saved(request, gettext("Saved."), "/account/#notices")


@login_required
@require_POST
def change_picture(request: HttpRequest) -> HttpResponse:
    """Store the uploaded picture. If the form contains the field `delete`, delete the user's
    picture instead.
    """
    user = account_user(request)
    if "delete" in request.POST:
        Picture.objects.filter(user=user).delete()
        messages.success(request, gettext("Picture deleted."))
        return redirect("account")
    form = PictureForm(request.POST, request.FILES)
    if not form.is_valid():
        return page(request, 400, picture_form=form)
    sent = form.cleaned_data["picture"]
    stored = {"content_type": sent.content_type, "content": sent.read()}
    Picture.objects.update_or_create(user=user, defaults=stored)
    messages.success(request, gettext("Saved."))
    return redirect("account")


@login_required
@require_safe
def picture(request: HttpRequest, user: int) -> HttpResponse:
    """Return the profile picture of the user with this primary key.

    Users can see their own picture and the pictures of users in the same teams. Users with the
    permission `auth.view_user` can see all pictures. Otherwise, raises Http404.
    """
    mine = account_user(request)
    people = get_user_model().objects.filter(is_active=True)
    if not mine.has_perm("auth.view_user"):
        mates = Q(groups__in=mine.groups.filter(team__isnull=False))
        people = people.filter(Q(pk=mine.pk) | mates).distinct()
    found = get_object_or_404(Picture, user__in=people, user_id=user)
    answer = HttpResponse(bytes(found.content), content_type=found.content_type)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = LOCKED
    answer["Cross-Origin-Resource-Policy"] = "same-origin"
    answer["Cache-Control"] = "private, no-cache"
    return answer


@login_required
@require_POST
def end(request: HttpRequest) -> HttpResponse:
    """End the session whose ID is in the form field `session`, or all other sessions if the field
    is empty.
    """
    user = account_user(request)
    chosen = request.POST.get("session")
    rows = [
        row
        for row in sessions_of(user.pk)
        if (str(row.pk) == chosen if chosen else not row.is_current())
    ]
    if chosen and not rows:
        raise Http404("This session does not exist.")
    get_adapter().end_sessions(rows)
    if any(row.is_current() for row in rows):
        logout(request)
    announce_end(user)
    messages.success(
        request,
        gettext("That device was signed out.")
        if chosen
        else gettext("All other devices were signed out."),
    )
    return redirect("account")


@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@require_POST
def create_key(request: HttpRequest) -> HttpResponse:
    if not settings.PERSONAL_API_KEYS:
        raise Http404("Users cannot create API keys on this server.")
    caller = visitor(request)
    form = OwnKeyForm(caller, request.POST)
    if not form.is_valid():
        return page(request, 400, key_form=form)
    chosen = [application.pk for application in form.cleaned_data["applications"]]
    try:
        row, key = make_key(caller, form.cleaned_data["name"], form.cleaned_data["until"], chosen)
    except Refused as refusal:
        form.add_error(None, str(refusal))
        return page(request, 400, key_form=form)
    new_keys.store_new_key(request.session, row.prefix, key)
    request.session[NEW_KEY] = row.prefix
    return redirect("/account/#keys")


@login_required
@require_POST
def revoke_key(request: HttpRequest) -> HttpResponse:
    """Revoke the user's API key whose prefix is in the form field `prefix`."""
    if not revoke_own_key(
        account_user(request), request.POST.get("prefix", ""), address_of(request)
    ):
        raise Http404("This key does not exist.")
    messages.success(request, gettext("The key was revoked."))
    return redirect("account")


@login_required
@require_POST
def disconnect_program(request: HttpRequest) -> HttpResponse:
    """Disconnect the OAuth client whose ID is in the form field `program`."""
    program = request.POST.get("program", "")
    if not disconnect(account_user(request), program, address_of(request)):
        raise Http404("This program is not connected.")
    messages.success(request, gettext("The program was disconnected."))
    return redirect("account")
