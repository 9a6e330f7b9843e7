"""Defines the admin pages for deployment prices, and the price table on each deployment's page."""

from django.contrib import admin

from apps.console.admin.rows.recorded import HISTORY_FIELDS, RecordedAdmin
from apps.console.admin.rows.versioned_form import VersionedForm
from apps.console.admin.theme import RowsBelow
from apps.insights.models import Price

AMOUNTS = ("input", "cached", "created", "output", "per_call")


class PriceForm(VersionedForm[Price]):
    class Meta:
        model = Price
        fields = ()  # Set by the admin.


@admin.register(Price)
class PriceAdmin(RecordedAdmin[Price]):
    form = PriceForm
    list_display = ("deployment", "valid_from", "currency", *AMOUNTS)
    list_filter = ("currency",)
    search_fields = ("deployment__display_name", "deployment__deployment_id")
    search_help_text = "Deployment"
    list_select_related = ("deployment",)
    fixed_fields = ("deployment",)
    fieldsets = (
        (None, {"fields": ("deployment", "valid_from", "currency")}),
        ("Price", {"fields": AMOUNTS}),
        HISTORY_FIELDS,
    )


class PriceInline(RowsBelow):
    model = Price
    fields = (("valid_from", "currency"), AMOUNTS)
    extra = 0
