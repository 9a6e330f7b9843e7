"""The API for editors of manifests: what may be written, what to begin with, what is wrong.

The reading half shows nothing of anybody's and asks for no key, as with the reference backend,
where DIAL Core decides who may reach it.
"""

from __future__ import annotations

import logging
from functools import lru_cache

import msgspec
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse

from apps.accounts.authentication import authenticate
from apps.catalog.content import configuration
from apps.catalog.content.installed import installed
from apps.catalog.json_views import only
from apps.errors import NotAuthenticated
from apps.manifest.reading import Problem, review
from apps.manifest.schema import manifest_schema

logger = logging.getLogger(__name__)


# --- Reading ----------------------------------------------------------------------------------


@only("GET", "HEAD")
def application_schema(request: HttpRequest) -> HttpResponse:
    """The JSON schema of a manifest."""
    written = written_schema(
        settings.ENABLE_PREVIEW_FEATURES, settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID
    )
    return HttpResponse(written, content_type="application/json")


@lru_cache(maxsize=4)
def written_schema(preview: bool, default_deployment: str) -> bytes:
    return msgspec.json.encode(
        manifest_schema(preview=preview, default_deployment=default_deployment)
    )


@only("GET", "HEAD")
def default_configuration(request: HttpRequest) -> JsonResponse:
    """What a new application begins with, its predefined toolsets written out."""
    return JsonResponse(configuration.default_configuration(installed()))


# --- Checking ---------------------------------------------------------------------------------


def detail(status: int, text: object) -> JsonResponse:
    return JsonResponse({"detail": text}, status=status)


@only("POST")
async def validate(request: ASGIRequest) -> JsonResponse:
    """Everything that is wrong with a manifest, and what is worth a warning."""
    try:
        await authenticate(request.scope)
        document = msgspec.json.decode(request.body)
    except NotAuthenticated as error:
        return detail(401, str(error))
    except RequestDataTooBig as error:
        return detail(413, str(error))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        return detail(400, f"The request body isn't valid JSON: {error}")
    found = review(
        document,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        is_foreign=True,
    )
    return JsonResponse({"errors": written(found.errors), "warnings": written(found.warnings)})


def written(problems: tuple[Problem, ...]) -> list[dict[str, str]]:
    return [{"path": problem.path, "message": problem.message} for problem in problems]
