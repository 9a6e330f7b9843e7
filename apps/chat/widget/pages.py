"""Serves the script that other sites include, the page in the widget's frame, and visitors'
tokens.
"""

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, JsonResponse, RawPostDataException
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from apps.accounts.languages import accepted_language, supported_language
from apps.catalog.models import Widget
from apps.chat.pages.data import find_manifest, starters
from apps.chat.templatetags.tiles import tile
from apps.chat.widget.identities import LONGEST_IDENTITY, use_identity
from apps.chat.widget.sign_in import LONGEST_CODE, use_code
from apps.chat.widget.tokens import FILES_SALT, VisitorToken, find_widget, new_token
from apps.conversations.ask import MOST_ATTACHMENTS
from apps.conversations.files.refusals import names_of_types
from apps.doors.bodies import first_problem
from apps.errors import Forbidden, Refused
from apps.manifest.manifest import LONGEST_QUESTION, Manifest

LOADER = "chat/scripts/widget/loader.js"


class TokenRequest(BaseModel):
    """A request for a visitor's token. `identity` and `code` are "" for anonymous visitors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    host: str = Field(max_length=300)
    identity: str = Field(default="", max_length=LONGEST_IDENTITY)
    """A JSON Web Token that identifies a user of the other site."""
    code: str = Field(default="", max_length=LONGEST_CODE)
    """A one-time code for a signed-in user of this installation."""


@require_safe
@cache_control(public=True, max_age=3600)
def loader(request: HttpRequest) -> HttpResponse:
    """Return the script that other sites include. Its URL has no version, so browsers cache it for
    an hour.
    """
    response = HttpResponse(loader_source(), content_type="text/javascript; charset=utf-8")
    # This lets pages with cross-origin isolation load the script.
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@cache
def loader_source() -> bytes:
    path = finders.find(LOADER)
    assert isinstance(path, str)  # noqa: S101 - the file is part of the package
    return Path(path).read_bytes()


@require_safe
@never_cache
@xframe_options_exempt
def frame(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page that the widget's frame shows. Only sites with the widget's listed origins
    can show this frame. Raises Http404 if the application has no active widget.
    """
    widget = find_widget(slug)
    with translation.override(language_of(request)):
        response = render(request, "chat/widget.html", page_context(request, widget))
        response.headers["Content-Language"] = translation.get_language()
    # Each widget has its own origins, and `X-Frame-Options` cannot list several.
    policy = {"frame-ancestors": ["'self'", *widget.origins], "form-action": ["'none'"]}
    # django-csp's decorators set the same attribute to replace directives.
    vars(response)["_csp_replace"] = policy
    return response


def language_of(request: HttpRequest) -> str:
    """Return the language in the query parameter `locale` or, if it is unsupported, the browser's
    language. The language in the user's account is ignored.
    """
    asked = request.GET.get("locale", "").lower().partition("-")[0]
    return supported_language(asked) or accepted_language(
        request.headers.get("accept-language", "")
    )


def page_context(request: HttpRequest, widget: Widget) -> dict[str, Any]:
    application = widget.application
    manifest = find_manifest(application.slug)
    data = {
        "application": application.slug,
        "title": application.title,
        "description": application.description,
        "tile": tile(application),
        "starters": starters(manifest),
        "hosts": [own_origin(request), *widget.origins],
        "needsIdentity": not application.is_public,
        "socket": f"/ws/widget/{application.slug}/",
        "base": reverse("widget", args=(application.slug,)).rstrip("/"),
        "token": reverse("widget-token", args=(application.slug,)),
        "signIn": reverse("widget-sign-in", args=(application.slug,)),
        "uploads": upload_limits(manifest),
        "textLimit": LONGEST_QUESTION,
    }
    return {"application": application, "data": data}


def upload_limits(manifest: Manifest | None) -> dict[str, Any] | None:
    """Return the limits for visitors' uploads. Return None if the application does not list the
    file types that it accepts. Uploads are then disabled.
    """
    if manifest is None or not manifest.input_attachment_types:
        return None
    size = settings.DEFAULT_FILE_LOADING_SIZE_LIMIT
    types = [*manifest.input_attachment_types]
    return {
        "size": size,
        "types": types,
        "names": names_of_types(types),
        "most": MOST_ATTACHMENTS,
    }


def own_origin(request: HttpRequest) -> str:
    """Return the origin of this site, where the studio shows previews of widgets."""
    return f"{request.scheme}://{request.get_host()}".lower()


@csrf_exempt  # The view does not use cookies.
@require_POST
@never_cache
def token(request: HttpRequest, slug: str) -> JsonResponse:
    """Return a token for a visitor as JSON. Raises Http404 if the application has no active
    widget.
    """
    widget = find_widget(slug)
    with translation.override(language_of(request)):
        try:
            body = TokenRequest.model_validate_json(request.body)
            made = admit(request, widget, body)
        except ValidationError as error:
            return refused(Refused("bad_request", f"{first_problem(error)}."))
        except RawPostDataException:
            return refused(Refused("bad_request", "Send JSON, not a form."))
        except Refused as error:
            return refused(error)
    told = {"token": made.write(), "expires": made.expires, "visitor": made.bucket}
    base = reverse("widget", args=(slug,))
    return JsonResponse({**told, "files": f"{base}key/{made.write(FILES_SALT)}"})


def admit(request: HttpRequest, widget: Widget, body: TokenRequest) -> VisitorToken:
    """Return a new token for an anonymous visitor, or for the user whom the identity or the code
    identifies. Raises `Refused` if the origin is unknown, or the identity or the code is invalid.
    """
    if body.host not in (own_origin(request), *widget.origins):
        raise Forbidden("origin_unknown", f"Unknown origin: '{body.host[:100]}'.")
    if body.code:
        return use_code(widget, body.host, body.code)
    user = use_identity(widget, body.identity) if body.identity else None
    return new_token(widget, body.host, user)


def refused(error: Refused) -> JsonResponse:
    body = {"error": {"message": str(error), "code": error.code}}
    return JsonResponse(body, status=error.http_status)
