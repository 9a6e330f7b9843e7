"""The page on which a new application begins."""

from typing import Any, cast

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from apps.catalog.application_files.starts import example_named, examples
from apps.catalog.models import Application
from apps.catalog.slugs import slug_of
from apps.console.operated import seen
from apps.console.studio.beginnings import copy_of, empty, make, make_of_file, sent_file
from apps.console.studio.first_steps import first_steps

STARTS = (
    ("empty", "Nothing"),
    ("example", "An example"),
    ("copy", "A copy of an application"),
    ("file", "A file"),
)

LONGEST_TITLE = 200
LONGEST_STEM = 40
"""The limit for a slug that is made of a title, without the number that may follow."""


class NewApplicationForm(forms.Form):
    title = forms.CharField(max_length=LONGEST_TITLE, label="What it is called")
    slug = forms.SlugField(
        max_length=50,
        required=False,
        label="Its name in addresses",
        help_text="Lower-case letters, digits and hyphens. Empty: made of the title.",
    )
    start = forms.ChoiceField(
        choices=STARTS, initial="empty", label="Begin with", widget=forms.RadioSelect
    )
    example = forms.ChoiceField(required=False, label="Example")
    copy = forms.ModelChoiceField(
        queryset=Application.objects.none(), required=False, label="Application"
    )
    file = forms.FileField(
        required=False,
        label="File",
        help_text="A zip that Export made, an application.yaml, or a JSON file. Secrets are named in "
        "it: add those that are missing here.",
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

    def make(self, user: Any) -> Application:
        """Raises ValidationError."""
        cleaned = self.cleaned_data
        start, title, slug = cleaned["start"], cleaned["title"], cleaned["slug"]
        if start == "file":
            sent = cleaned["file"]
            return make_of_file(sent_file(sent.name or "", sent.read()), title, slug, user)
        if start == "example" and (item := example_named(cleaned["example"])) is not None:
            return make_of_file(item, title, slug, user)
        return make(title, slug, copy_of(cleaned["copy"]) if start == "copy" else empty(), user)


@require_http_methods(["GET", "HEAD", "POST"])
def new_application(request: HttpRequest) -> HttpResponse:
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    if request.method == "POST":
        form = NewApplicationForm(seen(request), request.POST, request.FILES)
        if form.is_valid():
            try:
                row = form.make(request.user)
                return redirect("studio:page", row.pk)
            except ValidationError as error:
                tell(form, error)
    else:
        copied = request.GET.get("copy", "")
        initial = {"start": "copy", "copy": copied} if copied else {}
        form = NewApplicationForm(seen(request), initial=initial)
    context = {"form": form, "steps": first_steps(request)}
    answer: HttpResponse = rows.page(request, "admin/studio/new.html", "New application", context)
    return answer


def tell(form: NewApplicationForm, error: ValidationError) -> None:
    """Put what is wrong beside its field; what is wrong with the beginning, beside its choice."""
    chosen = form.cleaned_data["start"]
    if not hasattr(error, "error_dict"):
        form.add_error(chosen if chosen in form.fields else "start", error)
        return
    for name, errors in error.error_dict.items():
        form.add_error(name if name in ("title", "slug") else "start", errors)


@require_safe
def proposed_slug(request: HttpRequest) -> JsonResponse:
    """The slug that an application with this title would have."""
    rows: Any = admin.site.get_model_admin(Application)
    if not rows.has_add_permission(request):
        raise PermissionDenied
    title = request.GET.get("title", "").strip()[:LONGEST_TITLE]
    return JsonResponse({"slug": slug_for(title) if title else ""})


def slug_for(title: str) -> str:
    """The title in Latin letters, or the first `stem-N` that is not taken."""
    stem = slug_of(title, LONGEST_STEM) or "application"
    taken = set(Application.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    candidates = (stem if number == 1 else f"{stem}-{number}" for number in range(1, 10_000))
    return next(candidate for candidate in candidates if candidate not in taken)
