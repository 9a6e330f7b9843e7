"""The page that creates an application."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.caller import Caller
from apps.catalog.application_files.starts import example_named, examples
from apps.catalog.models import Application
from apps.catalog.slugs import slug_of
from apps.console.first_steps import first_steps
from apps.console.operator_rights import operator, visible_applications
from apps.console.studio.beginnings import empty, make, make_copy, make_of_file, sent_file

STARTS = (
    ("empty", "Blank"),
    ("example", "An example"),
    ("copy", "A copy of an application"),
    ("file", "A file"),
)

LONGEST_TITLE = 200
LONGEST_STEM = 40
"""The maximum number of characters of a slug that is derived from a title, without the number that
may be appended.
"""


class NewApplicationForm(forms.Form):
    title = forms.CharField(max_length=LONGEST_TITLE, label="Title")
    slug = forms.SlugField(
        max_length=50,
        required=False,
        label="Name in addresses",
        help_text=(
            "Lower-case letters, digits and hyphens. Leave empty to derive it from the title."
        ),
    )
    start = forms.ChoiceField(
        choices=STARTS, initial="empty", label="Start from", widget=forms.RadioSelect
    )
    example = forms.ChoiceField(required=False, label="Example")
    copy = forms.ModelChoiceField(
        queryset=Application.objects.none(), required=False, label="Application"
    )
    file = forms.FileField(
        required=False,
        label="File",
        help_text=(
            "A ZIP from Export, an application.yaml, or a JSON file. Add the secrets "
            "that it refers to here if they are missing."
        ),
    )

    def __init__(self, rows: QuerySet[Application], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        cast(Any, self.fields["copy"]).queryset = rows.order_by("title")
        found = [(one.slug, f"{one.title}: {one.description}") for one in examples()]
        cast(Any, self.fields["example"]).choices = [("", "Choose one…"), *found]

    def clean_slug(self) -> str:
        typed: str = self.cleaned_data["slug"]
        return typed or slug_for(self.cleaned_data.get("title", ""))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        start = cleaned.get("start")
        if start in ("example", "copy", "file") and not cleaned.get(start):
            self.add_error(start, "Choose one.")
        return cleaned

    def make(self, user: Any, caller: Caller) -> Application:
        """Store the application. Raises ValidationError."""
        cleaned = self.cleaned_data
        start, title, slug = cleaned["start"], cleaned["title"], cleaned["slug"]
        if start == "file":
            sent = cleaned["file"]
            return make_of_file(sent_file(sent.name or "", sent.read()), title, slug, user)
        if start == "example" and (item := example_named(cleaned["example"])) is not None:
            return make_of_file(item, title, slug, user)
        if start == "copy":
            return make_copy(title, slug, cleaned["copy"], user, caller)
        return make(title, slug, empty(), user)


@require_http_methods(["GET", "HEAD", "POST"])
def new_application(request: HttpRequest) -> HttpResponse:
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    if request.method == "POST":
        form = NewApplicationForm(visible_applications(request), request.POST, request.FILES)
        if form.is_valid():
            try:
                row = form.make(request.user, operator(request))
                return redirect("studio:page", row.pk)
            except ValidationError as error:
                tell(form, error)
    else:
        copied = request.GET.get("copy", "")
        initial = {"start": "copy", "copy": copied} if copied else {}
        form = NewApplicationForm(visible_applications(request), initial=initial)
    context = {"form": form, "steps": first_steps(request)}
    answer: HttpResponse = rows.page(request, "admin/studio/new.html", "New application", context)
    return answer


def tell(form: NewApplicationForm, error: ValidationError) -> None:
    """Add errors to their fields. Errors of the starting point are added to its choice."""
    chosen = form.cleaned_data["start"]
    if not hasattr(error, "error_dict"):
        form.add_error(chosen if chosen in form.fields else "start", error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in ("title", "slug") else "start", errors)


@require_safe
def proposed_slug(request: HttpRequest) -> JsonResponse:
    """Return the slug that an application with this title would get."""
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    title = request.GET.get("title", "").strip()[:LONGEST_TITLE]
    return JsonResponse({"slug": slug_for(title) if title else ""})


def slug_for(title: str) -> str:
    """Return the title in Latin letters. If it is in use, append the first free number."""
    stem = slug_of(title, LONGEST_STEM) or "application"
    taken = set(Application.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
