"""Defines the admin pages for OAuth clients ("programs") and for users' connections to them. The
secret of a new program is shown once, on the page after the form.
"""

from typing import Any
from urllib.parse import urlencode

from allauth.idp.oidc.models import Client, Token
from django import forms
from django.contrib import admin
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from apps.accounts.client_address import address_of
from apps.accounts.keys import new_keys
from apps.accounts.models import Program, ProgramConnection
from apps.accounts.oauth import clients, programs
from apps.accounts.oauth.connections import end_connections
from apps.console.admin.list_cells import account_cell, copied_text, two_lines
from apps.console.admin.rows.named_rows import NamedRows, named_application
from apps.console.admin.rows.row_choices import UserFilter
from apps.console.admin.theme import Admin, BoundedPaginator, ReadOnlyAdmin
from apps.errors import Refused

admin.site.unregister(Client)  # `ProgramAdmin` shows programs.
admin.site.unregister(Token)

SOURCES = {"operator": "An operator", "document": "Its document", "registration": "Itself"}
LINK = '<a class="text-primary-700 underline dark:text-primary-400" href="{}">{}</a>'


class ProgramForm(forms.ModelForm[Program]):
    secret = ""
    """The client secret, if the form registers a confidential program."""

    class Meta:
        model = Program
        fields = ("name", "type", "redirect_uris")
        labels = {"redirect_uris": "Redirect URIs"}
        help_texts = {
            "type": (
                "A confidential program can keep a secret, such as a server. A program on users’ "
                "devices is public. This cannot be changed."
            ),
            "redirect_uris": (
                "One per line. Use https, http with a loopback address (on any port), or a scheme "
                "of the program."
            ),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "redirect_uris" in self.fields:
            self.fields["redirect_uris"].required = True

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        clients.check_name(name)
        return name

    def clean_redirect_uris(self) -> str:
        lines = [line.strip() for line in self.cleaned_data["redirect_uris"].splitlines()]
        addresses = [line for line in lines if line]
        clients.check_addresses(addresses)
        return "\n".join(addresses)

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the stubs lack it
        if self.instance._state.adding and not self.errors:
            try:
                self.secret = programs.prepare_program(self.instance)
            except Refused as refusal:
                self.add_error(None, str(refusal))


@admin.register(Program)
class ProgramAdmin(Admin[Program]):
    form = ProgramForm
    list_display = ("named", "source", "type", "state", "users", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "id")
    search_help_text = "Name or client ID"
    actions = ("block", "unblock")
    new_fields = ("name", "type", "redirect_uris")
    fixed_fields = ("client_id", "type", "source", "state", "connections", "created_at")
    change_form_outer_after_template = "admin/triggers/secret_button.html"

    def row_title(self, request: HttpRequest, row: Program) -> str:
        return row.name

    def get_queryset(self, request: HttpRequest) -> Any:
        users = Count("connections__user", distinct=True)
        return programs.listed_programs().annotate(user_count=users)

    def get_fields(self, request: HttpRequest, obj: Program | None = None) -> Any:
        return ("name", "redirect_uris", *self.fixed_fields) if obj else self.new_fields

    def get_readonly_fields(self, request: HttpRequest, obj: Program | None = None) -> Any:
        if obj is None:
            return ()
        is_own = obj.source == "operator"
        return self.fixed_fields if is_own else ("name", "redirect_uris", *self.fixed_fields)

    @admin.display(description="program", ordering="name")
    def named(self, program: Program) -> str:
        return two_lines(program.name, program.pk)

    @admin.display(description="client ID")
    def client_id(self, program: Program) -> SafeString:
        return copied_text("client-id", program.pk)

    @admin.display(description="registered by")
    def source(self, program: Program) -> str:
        return SOURCES[program.source]

    @admin.display(description="state")
    def state(self, program: Program) -> str:
        return "Blocked" if program.is_blocked else "Allowed"

    @admin.display(description="users", ordering="user_count")
    def users(self, program: Any) -> int:
        return int(program.user_count)

    @admin.display(description="connected users")
    def connections(self, program: Any) -> SafeString:
        page = reverse("admin:accounts_programconnection_changelist")
        chosen = urlencode({"program__id": program.pk})
        return format_html(LINK, f"{page}?{chosen}", program.user_count)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        obj.shown_secret = getattr(form, "secret", "")
        if form.has_changed():
            event: Any = "program.changed" if change else "program.registered"
            programs.record_program(event, obj, request.user, address_of(request))

    def delete_model(self, request: HttpRequest, obj: Program) -> None:
        programs.record_program("program.deleted", obj, request.user, address_of(request))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Program]) -> None:
        for program in queryset:
            self.delete_model(request, program)

    # --- Secrets -------------------------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        renew = require_POST(self.renew)
        return [
            self.staff_path("<path:object_id>/secret/", self.show_secret, "secret"),
            self.staff_path("<path:object_id>/renew/", renew, "renew"),
            *super().get_urls(),
        ]

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.keep_secret(request, obj)

    def keep_secret(self, request: HttpRequest, program: Any) -> HttpResponse:
        # The secret is shown on a separate page, so that a reload does not register a second
        # program.
        new_keys.store_new_key(request.session, program.pk, program.shown_secret)
        return redirect(self.url("secret", quote(program.pk)))

    def show_secret(self, request: HttpRequest, object_id: str) -> HttpResponse:
        program = self.found(request, object_id)
        if not self.has_change_permission(request) and not self.has_add_permission(request):
            raise PermissionDenied
        secret = new_keys.pop_new_key(request.session, program.pk)
        context = {"program": program, "secret": secret}
        context["change_url"] = self.url("change", quote(program.pk))
        return self.page(request, "admin/program_secret.html", program.name, context)

    def renew(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Replace the secret of a program, and show the new one. Raises `PermissionDenied` if the
        user may not change the program, and `Http404` if it does not exist.
        """
        program: Any = self.found(request, object_id)
        if not self.may_renew(request, program):
            raise PermissionDenied
        program.shown_secret = programs.new_secret(program)
        program.save(update_fields=["secret"])
        self.log_change(request, program, "Created a new secret.")
        programs.record_program("program.changed", program, request.user, address_of(request))
        return self.keep_secret(request, program)

    def may_renew(self, request: HttpRequest, program: Program) -> bool:
        has_secret = program.source == "operator" and program.is_confidential
        return has_secret and bool(self.has_change_permission(request))

    def found(self, request: HttpRequest, object_id: str) -> Program:
        program: Program | None = self.get_object(request, unquote(object_id))
        if program is None:
            raise Http404("This program does not exist.")
        return program

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        program = kwargs.get("obj")
        if program is not None and self.may_renew(request, program):
            words = "The new one replaces it immediately."
            url = self.url("renew", quote(program.pk))
            context["renewal"] = {"url": url, "name": "client secret", "words": words}
        page: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return page

    # --- Actions -------------------------------------------------------------------------------

    @admin.action(description="Block and disconnect the selected programs", permissions=("change",))
    def block(self, request: HttpRequest, chosen: QuerySet[Program]) -> None:
        self.set_blocked(request, chosen, on=True)

    @admin.action(description="Unblock the selected programs", permissions=("change",))
    def unblock(self, request: HttpRequest, chosen: QuerySet[Program]) -> None:
        self.set_blocked(request, chosen, on=False)

    def set_blocked(self, request: HttpRequest, chosen: QuerySet[Program], *, on: bool) -> None:
        keys = list(chosen.values_list("pk", flat=True))
        count = programs.set_blocked(keys, request.user, address_of(request), on=on)
        self.message_user(request, f"{'Blocked' if on else 'Unblocked'}: {count}.")


@admin.register(ProgramConnection)
class ProgramConnectionAdmin(NamedRows, ReadOnlyAdmin[ProgramConnection]):
    list_display = ("named", "owner", "team", "application", "connected_at", "last_used_at")
    list_display_links = None
    list_select_related = ("program", "user", "team__group")
    list_filter = (
        ("user", UserFilter),
        ("team", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = ("program__name", "=program__id", "user__username", "=slug")
    search_help_text = "Program, client ID, user or application"
    show_full_result_count = False
    paginator = BoundedPaginator
    actions = ("disconnect",)
    application_column = "slug"

    def has_disconnect_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("accounts.delete_programconnection"))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == "program__id" or bool(super().lookup_allowed(lookup, value, request))

    @admin.display(description="program", ordering="program__name")
    def named(self, row: ProgramConnection) -> str:
        return two_lines(row.program.name, row.program.pk)

    @admin.display(description="user", ordering="user__username")
    def owner(self, row: ProgramConnection) -> str:
        return account_cell(row.user)

    @admin.display(description="application", ordering="slug")
    def application(self, row: Any) -> str | SafeString:
        return named_application(row, "slug") if row.slug else "All"

    @admin.action(description="Disconnect the selected programs", permissions=("disconnect",))
    def disconnect(self, request: HttpRequest, chosen: QuerySet[ProgramConnection]) -> None:
        count = end_connections(chosen, request.user, address_of(request))
        self.message_user(request, f"Disconnected: {count}.")
