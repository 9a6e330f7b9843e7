"""Defines the page that creates an application."""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.caller import Caller
from apps.catalog.application_files.templates import Template, template_named, templates
from apps.catalog.icons.images import MEDIA_TYPES, ending_of
from apps.catalog.icons.values import Tile, tile_of
from apps.catalog.models import Application
from apps.catalog.slugs import slug_of
from apps.console.operator_rights import operator, visible_applications
from apps.console.studio.beginnings import empty, make, make_copy, make_of_file, sent_file
from apps.console.studio.templates import make_of_template

STARTS = (
    ("empty", "Blank"),
    ("copy", "A copy of an application"),
    ("file", "A file"),
)

LONGEST_TITLE = 200
SEARCHED = 12
"""The page has a search field if there are more templates than this."""
LONGEST_STEM = 40
"""The maximum length of a slug that is derived from a title, not counting the number that may
follow.
"""


class NewApplicationForm(forms.Form):
    title = forms.CharField(max_length=LONGEST_TITLE, label="Title")
    slug = forms.SlugField(
        max_length=50,
        required=False,
        label="Name in URLs",
        help_text=(
            "Lowercase letters, digits and hyphens. Leave empty to derive it from the title."
        ),
    )
    start = forms.ChoiceField(
        choices=STARTS, initial="empty", label="Start from", widget=forms.RadioSelect
    )
    copy = forms.ModelChoiceField(
        queryset=Application.objects.none(),
        required=False,
        label="Application",
        empty_label="Choose an application",
        widget=forms.Select(attrs={"data-picker": True}),
    )
    file = forms.FileField(
        required=False,
        label="File",
        help_text=(
            "A ZIP file from Export, an application.yaml, or a JSON file. If the file refers to "
            "secrets that do not exist here, add them."
        ),
    )

    def __init__(self, rows: QuerySet[Application], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(Any, self.fields["copy"]).queryset = rows.order_by("title")

    def clean_slug(self) -> str:
        typed: str = self.cleaned_data["slug"]
        return typed or slug_for(self.cleaned_data.get("title", ""))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        start = cleaned.get("start")
        if start in ("copy", "file") and not cleaned.get(start):
            self.add_error(start, "Choose one.")
        return cleaned

    def make(self, user: Any, caller: Caller) -> Application:
        """Store the new application. Raises `ValidationError` if the slug or the file is
        invalid.
        """
        cleaned = self.cleaned_data
        start, title, slug = cleaned["start"], cleaned["title"], cleaned["slug"]
        if start == "file":
            sent = cleaned["file"]
            return make_of_file(sent_file(sent.name or "", sent.read()), title, slug, user)
        if start == "copy":
            return make_copy(title, slug, cleaned["copy"], user, caller)
        return make(title, slug, empty(), user)


@dataclass(frozen=True, slots=True)
class TemplateCard:
    name: str
    title: str
    description: str
    tile: Tile
    uses: list[str]
    """Labels for the features of the template, such as "Web search"."""


def card_of(template: Template) -> TemplateCard:
    tile = tile_of(template.title, template.name, str(template.item.fields.get("icon", "")))
    if template.icon is not None:
        # The image is not stored until an application is created with it.
        kind = MEDIA_TYPES[ending_of(template.icon)]
        address = f"data:{kind};base64,{b64encode(template.icon).decode()}"
        tile = Tile(tile.letters, tile.colour, url=address)
    return TemplateCard(template.name, template.title, template.description, tile, template.uses)


@require_http_methods(["GET", "HEAD", "POST"])
def new_application(request: HttpRequest) -> HttpResponse:
    """Show the templates, and a form for other starting points. A POST creates the application."""
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    context: dict[str, Any] = {}
    form = NewApplicationForm(visible_applications(request))
    if request.method == "POST":
        if name := request.POST.get("template"):
            row, context = start_from_template(name, request.user)
        else:
            form = NewApplicationForm(visible_applications(request), request.POST, request.FILES)
            row = start_from_form(form, request)
        if row is not None:
            return redirect("studio:page", row.pk)
    elif copied := request.GET.get("copy", ""):
        initial = {"start": "copy", "copy": copied}
        form = NewApplicationForm(visible_applications(request), initial=initial)
    if not form.is_bound and not form.initial:
        context["templates"] = [card_of(one) for one in templates()]
        context["has_search"] = len(context["templates"]) > SEARCHED
    answer: HttpResponse = rows.page(
        request, "admin/studio/new.html", "New application", {**context, "form": form}
    )
    return answer


def start_from_template(name: str, user: Any) -> tuple[Application | None, dict[str, Any]]:
    """Store a draft from the template, or return None and the `problem` for the page."""
    template = template_named(name)
    if template is None:
        return None, {"problem": "This template no longer exists. Choose another one."}
    try:
        return make_of_template(template, template.title, slug_for(template.title), user), {}
    except ValidationError as error:
        return None, {"problem": f"{template.title} cannot be used: {'; '.join(error.messages)}"}


def start_from_form(form: NewApplicationForm, request: HttpRequest) -> Application | None:
    """Store the application, or add the errors to the form and return None."""
    if not form.is_valid():
        return None
    try:
        return form.make(request.user, operator(request))
    except ValidationError as error:
        add_errors(form, error)
        return None


def add_errors(form: NewApplicationForm, error: ValidationError) -> None:
    """Add the errors to the form. All errors except those for the title and the slug appear at the
    selected starting point.
    """
    chosen = form.cleaned_data["start"]
    if not hasattr(error, "error_dict"):
        form.add_error(chosen if chosen in form.fields else "start", error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in ("title", "slug") else "start", errors)


@require_safe
def proposed_slug(request: HttpRequest) -> JsonResponse:
    """Return the default slug for the query parameter `title`."""
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    title = request.GET.get("title", "").strip()[:LONGEST_TITLE]
    return JsonResponse({"slug": slug_for(title) if title else ""})


def slug_for(title: str) -> str:
    """Derive an unused slug from a title. Append a number if the slug is in use."""
    stem = slug_of(title, LONGEST_STEM) or "application"
    taken = set(Application.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
