"""The settings page: appearance, page behavior and custom instructions."""

from typing import Any

from django import forms
from django.conf import settings as site_settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.utils.formats import number_format
from django.utils.functional import lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.languages import chosen_for_request, language_of_request
from apps.accounts.preferences import (
    CACHE_ATTRIBUTE,
    LONGEST_INSTRUCTIONS,
    Preferences,
    preferences_of,
)
from apps.chat.pages.script_texts import A_YEAR
from apps.chat.saved_forms import is_sent_by_script, keep_changed_fields, problems_of, saved
from apps.chat.shares.pages import list_links
from apps.chat.visitors import account_user, visitor


class AppearanceForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("language", "theme", "density", "width", "text_size")
        widgets = dict.fromkeys(("theme", "density", "width", "text_size"), forms.RadioSelect)


class WritingForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("send_key", "has_shortcuts", "has_voice", "has_spoken_answers")
        widgets = {"send_key": forms.RadioSelect}
        labels = {
            "send_key": gettext_lazy("Send messages with"),
            "has_shortcuts": gettext_lazy("Keyboard shortcuts"),
            "has_voice": gettext_lazy("Dictate messages"),
            "has_spoken_answers": gettext_lazy("Announce answers as they’re written"),
        }
        help_texts = {
            "send_key": gettext_lazy(
                "If you choose Ctrl + Enter, Enter starts a new line. Shift + Enter always starts a new line."
            ),
            "has_shortcuts": gettext_lazy(
                "If this setting is off, page shortcuts are disabled and hidden, so they don’t interfere with your browser or assistive technology. Enter and Esc still work."
            ),
            "has_voice": gettext_lazy(
                "Adds a microphone to the message box in browsers that can transcribe speech. Your speech may be sent to your browser’s vendor."
            ),
            "has_spoken_answers": gettext_lazy(
                "Screen readers read each answer sentence by sentence as it’s written. If this setting is off, they announce only when an answer starts and ends."
            ),
        }


class InstructionsForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("uses_instructions", "instructions")
        labels = {
            "uses_instructions": gettext_lazy("Use custom instructions"),
            "instructions": gettext_lazy("Custom instructions"),
        }
        help_texts = {
            "instructions": format_lazy(
                gettext_lazy("Up to {most} characters. An app’s own instructions take priority."),
                most=lazy(number_format, str)(LONGEST_INSTRUCTIONS, force_grouping=True),
            ),
        }
        widgets = {"instructions": forms.Textarea({"rows": 6, "dir": "auto"})}


class RetentionForm(forms.ModelForm[Preferences]):
    class Meta:
        model = Preferences
        fields = ("retention_days",)
        labels = {"retention_days": gettext_lazy("Delete inactive conversations")}
        help_texts = {
            "retention_days": gettext_lazy(
                "The period starts with the conversation’s last message or change, such as renaming, moving or importing it. Pinned conversations are not deleted."
            ),
        }


FORMS: dict[str, type[forms.ModelForm[Preferences]]] = {
    "appearance": AppearanceForm,
    "writing": WritingForm,
    "instructions": InstructionsForm,
    "retention": RetentionForm,
}
SAVED = {
    "appearance": gettext_lazy("Saved."),
    "writing": gettext_lazy("Saved."),
    "instructions": gettext_lazy("Saved. Changes apply from your next message."),
    "retention": gettext_lazy("Saved."),
}


@require_safe
@never_cache
@ensure_csrf_cookie
def settings(request: HttpRequest) -> HttpResponse:
    return page(request)


def page(request: HttpRequest, status: int = 200, **forms: Any) -> HttpResponse:
    """Render the settings page. `forms` contains submitted forms with errors, which replace the
    forms with the same names.
    """
    row = preferences_row(request)
    unbound = {name: form(instance=row, auto_id=f"{name}-%s") for name, form in FORMS.items()}
    links = list_links(request, visitor(request)) if request.user.is_authenticated else None
    context = {**unbound, **forms, "links": links}
    return render(request, "chat/settings.html", context, status=status)


def preferences_row(request: HttpRequest) -> Preferences:
    """Return the user's stored preferences, or an unsaved row with the defaults."""
    if not request.user.is_authenticated:
        return Preferences(language=chosen_for_request(request))
    user = account_user(request)
    return preferences_of(user.pk) or Preferences(user=user)


@login_required
@require_POST
def change(request: HttpRequest, part: str) -> HttpResponse:
    """Save the section `part` of the settings page. Raises Http404 if there is no such section."""
    if part not in FORMS:
        raise Http404("This section of the settings does not exist.")
    form = FORMS[part](request.POST, instance=preferences_row(request), auto_id=f"{part}-%s")
    keep_changed_fields(request, form)
    if not form.is_valid():
        if is_sent_by_script(request):
            return problems_of(form)
        return page(request, 400, **{part: form})
    form.save()
    target = "/settings/data/#retention" if part == "retention" else f"/settings/#{part}"
    response = saved(request, str(SAVED[part]), target)
    if part == "appearance":
        activate_language(request, response, form.instance)
    return response


def activate_language(
    request: HttpRequest, response: HttpResponse, preferences: Preferences
) -> None:
    """Use the language in `preferences` for this response, and store it in a cookie for the sign-in
    page. If `preferences` contains no language, delete the cookie.
    """
    name = site_settings.LANGUAGE_COOKIE_NAME
    setattr(request, CACHE_ATTRIBUTE, preferences)
    if preferences.language:
        response.set_cookie(name, preferences.language, A_YEAR, samesite="Lax")
    else:
        response.delete_cookie(name, samesite="Lax")
        request.COOKIES.pop(name, None)
    translation.activate(language_of_request(request))


@login_required
@require_POST
def change_theme(request: HttpRequest) -> HttpResponse:
    """Store the color theme in the form field `theme`."""
    theme = request.POST.get("theme", "")
    if theme not in Preferences.Theme.values:
        text = f"theme: use one of {', '.join(Preferences.Theme.values)}."
        return HttpResponse(text, status=400, content_type="text/plain; charset=utf-8")
    Preferences.objects.update_or_create(user=account_user(request), defaults={"theme": theme})
    return HttpResponse(status=204)
