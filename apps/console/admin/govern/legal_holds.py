"""Defines the admin pages for legal holds. Operators place and lift holds, but cannot edit them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString

from apps.accounts import audit
from apps.accounts.audit import AuditEvent, Event
from apps.accounts.caller import bucket_of, owner_ids
from apps.accounts.client_address import address_of
from apps.accounts.models import LegalHold
from apps.console.admin.callers import caller_names
from apps.console.admin.rows.named_rows import NamedRows, named_caller
from apps.console.admin.theme import Admin
from apps.conversations.models import Conversation


class LegalHoldForm(forms.ModelForm[LegalHold]):
    """The form for a legal hold on all of a user's data or on one conversation."""

    class Meta:
        model = LegalHold
        fields = ("user", "conversation", "reason")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        user, conversation = given.get("user"), given.get("conversation")
        if self.errors:
            return given
        if user is not None and conversation is None:
            self.instance.owner = bucket_of(user.pk)
        elif user is None and conversation is not None:
            self.instance.owner = self.owner_of(conversation)
            given["user"] = account_of(self.instance.owner)
        else:
            raise forms.ValidationError("Choose a user, or enter the ID of a conversation.")
        same = LegalHold.objects.active().filter(
            owner=self.instance.owner, conversation=conversation
        )
        if same.exists():
            raise forms.ValidationError("This data is already under an active hold.")
        return given

    def owner_of(self, conversation: Any) -> str:
        owner = Conversation.objects.filter(pk=conversation).values_list("owner", flat=True).first()
        if owner is None:
            raise forms.ValidationError({"conversation": "There is no conversation with this ID."})
        return owner


def account_of(bucket: str) -> Any:
    """Return the user with this bucket, or None for a visitor, API key or deleted account."""
    place = owner_ids(bucket)
    return None if place is None else get_user_model().objects.filter(pk=place[0]).first()


class HoldFilter(admin.SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("active", "Active"), ("lifted", "Lifted")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[LegalHold]) -> QuerySet[LegalHold]:
        if not self.value():
            return queryset
        return queryset.filter(lifted_at__isnull=self.value() == "active")


@admin.register(LegalHold)
class LegalHoldAdmin(NamedRows, Admin[LegalHold]):
    form = LegalHoldForm
    list_display = ("held", "conversation", "reason", "placed_at", "placer", "lifted_at", "lifter")
    list_display_links = None
    list_filter = (HoldFilter,)
    caller_columns = ("owner", "placed_by", "lifted_by")
    search_fields = ("=owner", "=conversation", "reason", "user__username")
    search_help_text = "User, conversation ID or reason"
    autocomplete_fields = ("user",)
    empty_labels = {"user": "Choose a user"}
    actions = ("lift",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("accounts.change_legalhold"))

    def row_title(self, request: HttpRequest, row: LegalHold) -> str:
        name = caller_names([row.owner])[row.owner]
        return f"Hold on {'a conversation' if row.conversation else 'the data'} of {name}"

    @admin.display(description="held data of", ordering="owner")
    def held(self, row: Any) -> str | SafeString:
        return named_caller(row, "owner")

    @admin.display(description="placed by", ordering="placed_by")
    def placer(self, row: Any) -> str | SafeString:
        return named_caller(row, "placed_by")

    @admin.display(description="lifted by", ordering="lifted_by")
    def lifter(self, row: Any) -> str | SafeString:
        return named_caller(row, "lifted_by")

    def save_model(self, request: HttpRequest, obj: LegalHold, form: Any, change: bool) -> None:
        obj.placed_by = bucket_of(request.user.pk)
        super().save_model(request, obj, form, change)
        record(request, "hold.placed", obj)

    @admin.action(description="Lift the selected holds", permissions=("lift",))
    def lift(self, request: HttpRequest, chosen: QuerySet[LegalHold]) -> None:
        rows = list(chosen.filter(lifted_at=None))
        for row in rows:
            # A lifted hold has no `user`, so that the account can be deleted again. `owner` still
            # identifies the owner of the data.
            row.user, row.lifted_at = None, timezone.now()
            row.lifted_by = bucket_of(request.user.pk)
            row.save()
            record(request, "hold.lifted", row)
        self.message_user(request, f"Holds lifted: {len(rows)}.")


def record(request: HttpRequest, event: Event, row: LegalHold) -> None:
    actor, address = bucket_of(request.user.pk), address_of(request)
    audit.record(
        AuditEvent(event, actor, address, conversation=row.conversation, subject=row.owner)
    )
