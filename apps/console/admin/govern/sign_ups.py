"""Defines the admin page on which administrators approve or reject users who signed up."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from apps.accounts.caller import bucket_of
from apps.accounts.erasure_reports import request_erasure
from apps.accounts.models import SignUp
from apps.accounts.sign_up import sign_up
from apps.console.admin.govern.mail import send_message
from apps.console.admin.list_cells import account_cell
from apps.console.admin.theme import Admin


@admin.register(SignUp)
class SignUpAdmin(Admin[SignUp]):
    list_display = ("person", "address", "is_confirmed", "is_approved", "created_at")
    list_display_links = None
    list_filter = ("needs_approval", "needs_confirmation")
    list_select_related = ("user",)
    search_fields = ("user__username", "user__email")
    search_help_text = "Username or email address"
    actions = ("approve", "refuse")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_actions(self, request: HttpRequest) -> Any:
        # Deleting the row would leave an account that can never be approved.
        return {
            name: action
            for name, action in super().get_actions(request).items()
            if name != "delete_selected"
        }

    @admin.display(description="user", ordering="user__username")
    def person(self, waiting: SignUp) -> str:
        return account_cell(waiting.user)

    @admin.display(description="email address", ordering="user__email")
    def address(self, waiting: SignUp) -> str:
        return waiting.user.email

    @admin.display(description="confirmed", boolean=True)
    def is_confirmed(self, waiting: SignUp) -> bool:
        return not waiting.needs_confirmation

    @admin.display(description="approved", boolean=True)
    def is_approved(self, waiting: SignUp) -> bool:
        return not waiting.needs_approval

    @admin.action(description="Approve the selected accounts", permissions=("change",))
    def approve(self, request: HttpRequest, chosen: QuerySet[SignUp]) -> None:
        for waiting in chosen.select_related("user").filter(needs_approval=True):
            self.log_change(request, waiting.user, "Approved the account.")
            if sign_up.approve(waiting.user) is None:
                page = request.build_absolute_uri(reverse("login"))
                send_message(
                    self, request, "account/email/approved", waiting.user.email, sign_in_url=page
                )
        self.message_user(request, "The selected accounts were approved.")

    @admin.action(description="Reject and delete the selected accounts", permissions=("delete",))
    def refuse(self, request: HttpRequest, chosen: QuerySet[SignUp]) -> None:
        for waiting in chosen.select_related("user"):
            self.log_deletions(request, chosen.model._default_manager.filter(pk=waiting.pk))
            request_erasure(waiting.user.pk, bucket_of(request.user.pk))
            waiting.user.delete()
            # An address that is not confirmed may belong to another user.
            if not waiting.needs_confirmation:
                send_message(self, request, "account/email/refused", waiting.user.email)
        self.message_user(request, "The selected accounts were deleted.")
