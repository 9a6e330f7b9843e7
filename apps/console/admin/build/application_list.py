"""Defines the columns and filters for the list of applications."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.db.models import CharField, Count, F, OuterRef, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from apps.catalog.models import Application, Grant, PublishingRequest
from apps.catalog.versions.publishing_requests import requests_to_grant
from apps.catalog.versions.states import ApplicationState, application_state, in_state, with_drafts
from apps.console.admin.build.application_figures import week_figures
from apps.console.admin.callers import person_name
from apps.console.admin.cells import NOTHING, money
from apps.console.admin.list_cells import RowLink, row_links, two_lines
from apps.console.admin.rows.row_choices import UserFilter
from apps.console.admin.theme import Admin

LIST_URL = "catalog_application_changelist"
MODEL = "manifest__orchestrator__deployment__"
OF_WEEK = ("week_people", "week_cost", "week_errors")
"""The columns of the list of applications that show metrics for the last seven days."""


class StateFilter(admin.SimpleListFilter):
    title = parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state.value, str(state.label)) for state in ApplicationState]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Application]
    ) -> QuerySet[Application]:
        return in_state(queryset, self.value() or "")


class RequestFilter(admin.SimpleListFilter):
    title = "publishing"
    parameter_name = "publishing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("waiting", "Waiting for me"),
            ("requested", "Requested"),
            ("returned", "Sent back"),
        ]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Application]
    ) -> QuerySet[Application]:
        found = PublishingRequest.objects.all()
        match self.value():
            case "waiting":
                found = found.filter(requests_to_grant(request.user))
            case "requested":
                found = found.filter(returned_at=None)
            case "returned":
                found = found.exclude(returned_at=None)
            case _:
                return queryset
        return queryset.filter(pk__in=found.values("draft__application"), archived_at=None)


class AudienceFilter(admin.SimpleListFilter):
    title = parameter_name = "audience"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("public", "Everyone"), ("shared", "Signed-in users"), ("granted", "By access")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Application]
    ) -> QuerySet[Application]:
        match self.value():
            case "public":
                return queryset.filter(is_public=True)
            case "shared":
                return queryset.filter(is_public=False, is_shared=True)
            case "granted":
                return queryset.filter(is_public=False, is_shared=False)
            case _:
                return queryset


class ApplicationList(Admin[Application]):
    change_list_template = "admin/catalog/application/change_list.html"
    first_page = "studio-new"
    list_display = (
        "titled",
        "state",
        "for_whom",
        *OF_WEEK,
        "changed",
        "links",
    )
    list_filter = (
        StateFilter,
        RequestFilter,
        "is_enabled",
        AudienceFilter,
        ("owner", UserFilter),
    )
    list_select_related = ("owner",)
    search_fields = ("title", "slug", "description")
    search_help_text = "Title, slug or description"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Application]:
        rows: QuerySet[Application] = super().get_queryset(request)
        if request.resolver_match is None or request.resolver_match.url_name != LIST_URL:
            return rows
        names = (KT(f"{MODEL}deployment_id"), KT(f"{MODEL}name"))
        return with_drafts(rows.defer("manifest")).annotate(
            model=Coalesce(*names, output_field=CharField()),
            people=granted_to("user"),
            groups=granted_to("group"),
            asked_at=F("draft__request__asked_at"),
            returned_at=F("draft__request__returned_at"),
        )

    def get_list_display(self, request: HttpRequest) -> Any:
        """Omit the metrics for users who lack permission to see usage or runs."""
        may = all(map(request.user.has_perm, ("insights.view_usagesum", "runs.view_runsummary")))
        return [name for name in self.list_display if may or name not in OF_WEEK]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        listed = super().get_changelist_instance(request)
        if {*OF_WEEK} & {*listed.list_display}:
            found = week_figures([row.slug for row in listed.result_list])  # Once for all rows.
            for row in listed.result_list:
                row.week = found[row.slug]
        return listed

    @admin.display(description="title", ordering="title")
    def titled(self, application: Application) -> SafeString:
        tile = render_to_string("chat/tile.html", {"application": application, "size": "small"})
        about = f"{application.slug}, {self.model_name(application)}"
        words = two_lines(application.title, about)
        return format_html('<span class="titled">{}<span>{}</span></span>', tile, words)

    @admin.display(description="state")
    def state(self, application: Application) -> SafeString:
        found = application_state(application)
        badge = (
            '<span class="console-block run-state">'
            '<span class="console-badge console-{}">{}</span>{}</span>'
        )
        kind = "good" if found is ApplicationState.LIVE else ""
        short = "Live, changed" if found is ApplicationState.CHANGED else found.label
        if not application.is_enabled and application.archived_at is None:
            kind, short = "", f"{short}, disabled"
        return format_html(badge, kind, short, request_badge(application))

    @admin.display(description="7-day callers")
    def week_people(self, application: Any) -> str:
        return f"{application.week.people:,}"

    @admin.display(description="7-day cost")
    def week_cost(self, application: Any) -> str:
        return money(application.week.costs)

    @admin.display(description="7-day failures")
    def week_errors(self, application: Any) -> SafeString | str:
        rate = application.week.error_rate
        if not rate:
            return NOTHING if rate is None else "0%"
        page = reverse("admin:runs_runsummary_changelist")
        query = urlencode({"application": application.slug, "status": "failed", "hours": 168})
        link = '<a class="text-primary-700 underline dark:text-primary-400" href="{}?{}">{}</a>'
        return format_html(link, page, query, f"{rate:.1%}")

    def model_name(self, application: Application) -> str:
        return Truncator(getattr(application, "model", None) or "none").chars(40)

    @admin.display(description="audience and owner")
    def for_whom(self, application: Application) -> str:
        owner = person_name(application.owner) if application.owner else ""
        return two_lines(self.audience(application), owner)

    def audience(self, application: Application) -> str:
        if application.is_public:
            return "Everyone"
        if application.is_shared:
            return "Signed-in users"
        people, groups = getattr(application, "people", 0), getattr(application, "groups", 0)
        said = (
            *count_phrases(people, "person", "people"),
            *count_phrases(groups, "group", "groups"),
        )
        return ", ".join(said) or "Only its owner"

    @admin.display(description="changed", ordering="updated_at")
    def changed(self, application: Application) -> str:
        return format_html(
            '<span class="cell-short">{}</span>', naturaltime(application.updated_at)
        )

    @admin.display(description="links")
    def links(self, application: Application) -> SafeString:
        page, title = application.pk, application.title
        found = [
            RowLink("pencil", f"Edit {title}", reverse("studio:page", args=[page])),
            RowLink(
                "clock",
                f"Versions of {title}",
                reverse("admin:catalog_application_versions", args=[page]),
            ),
        ]
        if application.is_enabled:
            chat = application.get_absolute_url()
            found.append(RowLink("message-circle", f"Open {title} in chat", chat))
        return row_links(found)


def request_badge(application: Any) -> SafeString | str:
    """Return a badge for the draft's publishing request, or "" if there is none."""
    if getattr(application, "asked_at", None) is None:
        return ""
    is_returned = application.returned_at is not None
    kind, said = ("bad", "sent back") if is_returned else ("", "publishing requested")
    return format_html(' <span class="console-badge console-{}">{}</span>', kind, said)


def granted_to(holder: str) -> Coalesce:
    """Return a query expression that counts an application's grants. `holder` is "user" or
    "group".
    """
    rows = Grant.objects.filter(application=OuterRef("pk"), **{f"{holder}__isnull": False})
    count = rows.order_by().values("application").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(count), 0)


def count_phrases(number: int, one: str, more: str) -> tuple[str, ...]:
    return (f"{number:,} {one if number == 1 else more}",) if number else ()
