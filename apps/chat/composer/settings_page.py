"""The page on which people choose how the pages look and work, and what they tell every model."""

from typing import Any

from django import forms
from django.conf import settings as site_settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.chat.account_page import person
from apps.chat.composer.models import LONGEST_INSTRUCTIONS, Preferences
from apps.chat.composer.preferences import KEPT, preferences_of
from apps.chat.languages import A_YEAR, chosen_for_request, language_of_request
from apps.chat.shares.pages import listed
from apps.chat.visitors import visitor


class AppearanceForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("language", "theme", "density", "text_size")


class WritingForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("send_key", "has_shortcuts", "has_voice", "has_spoken_answers")
        labels = {
            "send_key": gettext_lazy("Send a message with"),
            "has_shortcuts": gettext_lazy("Keyboard shortcuts"),
            "has_voice": gettext_lazy("Dictate messages"),
            "has_spoken_answers": gettext_lazy("Answers for screen readers"),
        }
        help_texts = {
            "send_key": gettext_lazy(
                "With Ctrl + Enter, Enter alone begins a new line. Shift + Enter always does."
            ),
            "has_shortcuts": gettext_lazy(
                "Off: no shortcut of the page gets in the way of your browser or of "
                "assistive technology, and none is mentioned. Enter and Esc go on working."
            ),
            "has_voice": gettext_lazy(
                "A microphone stands beside the box, in browsers that can write down "
                "speech. The maker of your browser may receive what you say."
            ),
            "has_spoken_answers": gettext_lazy(
                "A screen reader reads an answer while it is written, sentence by "
                "sentence. Off: it is told when the answer begins and when it is complete."
            ),
        }


class InstructionsForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("uses_instructions", "instructions")
        labels = {
            "uses_instructions": gettext_lazy("Send them with my messages"),
            "instructions": gettext_lazy("How you would like to be answered"),
        }
        help_texts = {
            "instructions": format_lazy(
                gettext_lazy(
                    "At most {most} characters. What an application is told by its makers comes first."
                ),
                most=lazy(number_format, str)(LONGEST_INSTRUCTIONS, force_grouping=True),
            ),
        }
        widgets = {"instructions": forms.Textarea({"rows": 6, "dir": "auto"})}


class RetentionForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("retention_days",)
        labels = {"retention_days": gettext_lazy("Delete conversations in which nothing was done")}
        help_texts = {
            "retention_days": gettext_lazy(
                "Counted from when something was last written in one, or it was "
                "renamed, moved or imported. Those that you have pinned stay."
            ),
        }


FORMS: dict[str, type[forms.ModelForm[Preferences]]] = {
    "appearance": AppearanceForm,
    "writing": WritingForm,
    "instructions": InstructionsForm,
    "retention": RetentionForm,
}
SAVED = {
    "appearance": gettext_lazy("How the pages look is saved."),
    "writing": gettext_lazy("How you write is saved."),
    "instructions": gettext_lazy(
        "Your instructions are saved. They hold from your next message on."
    ),
    "retention": gettext_lazy("How long your conversations are kept is saved."),
}


@require_safe
@never_cache
@ensure_csrf_cookie
def settings(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **forms: Any) -> HttpResponse:
    """`forms` are those that were filled in wrongly, with what is wrong about them."""
    row = row_of(request)
    unbound = {name: form(instance=row, auto_id=f"{name}-%s") for name, form in FORMS.items()}
    links = listed(request, visitor(request)) if request.user.is_authenticated else None
    context = {**unbound, **forms, "links": links}
    return render(request, "chat/settings.html", context, status=status)


def row_of(request: HttpRequest) -> Preferences:
    """The kept one of the person, or a new one with the defaults."""
    if not request.user.is_authenticated:
        return Preferences(language=chosen_for_request(request))
    user = person(request)
    return preferences_of(user.pk) or Preferences(user=user)


@login_required
@require_POST
def change(request: HttpRequest, part: str) -> HttpResponse:
    """Save one part of the page. Raises Http404 for an unknown one."""
    if part not in FORMS:
        raise Http404("The settings have no such part.")
    form = FORMS[part](request.POST, instance=row_of(request), auto_id=f"{part}-%s")
    if not form.is_valid():
        return page(request, 400, **{part: form})
    form.save()
    response = redirect(
        "/settings/data/#retention" if part == "retention" else f"/settings/#{part}"
    )
    if part == "appearance":
        speak(request, response, form.instance)
    messages.success(request, SAVED[part])
    return response


def speak(request: HttpRequest, response: HttpResponse, kept: Preferences) -> None:
    """Go on in the language that was just chosen; the browser keeps it for the page of sign-in."""
    name = site_settings.LANGUAGE_COOKIE_NAME
    setattr(request, KEPT, kept)
    if kept.language:
        response.set_cookie(name, kept.language, A_YEAR, samesite="Lax")
    else:
        response.delete_cookie(name, samesite="Lax")
        request.COOKIES.pop(name, None)
    translation.activate(language_of_request(request))


@login_required
@require_POST
def change_theme(request: HttpRequest) -> HttpResponse:
    """Keep the `theme` that was chosen with the switch of a page."""
    theme = request.POST.get("theme", "")
    if theme not in Preferences.Theme.values:
        text = f"theme: write one of {', '.join(Preferences.Theme.values)}."
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    Preferences.objects.update_or_create(user=person(request), defaults={"theme": theme})
    return HttpResponse(status=204)
