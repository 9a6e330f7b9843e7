"""Defines the admin pages for invitations to sign up. The server emails the link, or shows it once
to the user who created the invitation.
"""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils import timezone

from apps.accounts.keys import new_keys
from apps.accounts.models import Invitation
from apps.accounts.secret_tokens import hash_of, new_token
from apps.console.admin.govern.mail import send_message
from apps.console.admin.list_cells import account_cell
from apps.console.admin.theme import Admin, SearchedChoices


class InvitationForm(forms.ModelForm[Invitation]):
    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()

    def clean_expires_at(self) -> Any:
        end = self.cleaned_data["expires_at"]
        if end <= timezone.now():
            raise forms.ValidationError("This date is in the past. Choose a future date.")
        return end


@admin.register(Invitation)
class InvitationAdmin(Admin[Invitation]):
    form = InvitationForm
    list_display = ("__str__", "state", "is_sent", "user", "expires_at", "creator")
    list_select_related = ("used_by", "created_by")
    search_fields = ("email", "used_by__username")
    search_help_text = "Email address or username"
    fields = ("email", "groups", "expires_at")

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        options["queryset"] = offered_groups(request.user)
        options["widget"] = SearchedChoices()
        field: Any = super().formfield_for_manytomany(db_field, request, **options)
        field.help_text = db_field.help_text  # Django adds a hint about the keyboard.
        return field

    @admin.display(description="used by", ordering="used_by__username")
    def user(self, invitation: Invitation) -> str:
        return account_cell(invitation.used_by)

    @admin.display(description="created by", ordering="created_by__username")
    def creator(self, invitation: Invitation) -> str:
        return account_cell(invitation.created_by)

    @admin.display(description="state")
    def state(self, invitation: Invitation) -> str:
        if invitation.used_at:
            return "Used"
        if invitation.created_by is None or not invitation.created_by.is_active:
            return "Void: the account of its creator is closed"
        return "Expired" if invitation.expires_at <= timezone.now() else "Open"

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.token = new_token()
        obj.token_hash = hash_of(obj.token)
        obj.created_by = request.user
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        link = request.build_absolute_uri(reverse("invitation", args=[obj.token]))
        if send_message(
            self, request, "account/email/invitation", obj.email, link=link, invitation=obj
        ):
            Invitation.objects.filter(pk=obj.pk).update(is_sent=True)
            self.message_user(request, f"The invitation was sent to {obj.email}.")
            return redirect(self.url("changelist"))
        if settings.SIGN_UP == "closed":
            told = "SIGN_UP is closed: nobody can use invitations until that setting is changed."
            self.message_user(request, told, messages.WARNING)
        new_keys.store_new_key(request.session, secret_name(obj), link)
        return redirect(self.url("created", obj.pk))

    def get_urls(self) -> list[URLPattern]:
        created = self.staff_path("<int:number>/created/", self.show_created, "created")
        return [created, *super().get_urls()]

    def show_created(self, request: HttpRequest, number: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        invitation = Invitation.objects.filter(pk=number, created_by=request.user.pk).first()
        if invitation is None:
            raise Http404
        link = new_keys.pop_new_key(request.session, secret_name(invitation))
        context = {"invitation": invitation, "link": link, "add_url": self.url("add")}
        return self.page(request, "admin/invitation_created.html", "Invitation created", context)


def secret_name(invitation: Invitation) -> str:
    return f"invitation-{invitation.pk}"


def offered_groups(user: Any) -> QuerySet[Group]:
    """Return the groups to which the user may invite others. Superusers can invite to all groups.
    Other users can invite to their own groups, except teams that they do not administer.
    """
    if user.is_superuser:
        return Group.objects.all()
    # A user who was removed from a team's group on another page may still be the team's
    # administrator.
    own = Group.objects.filter(user=user).filter(Q(team=None) | Q(team__administrators=user))
    return own.distinct()
