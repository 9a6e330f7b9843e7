"""Implements the API for manifest editors: the schema, the default configuration, skills and
validation.

`GET` requests need no key, as in the reference implementation, because all callers get the same
responses and DIAL Core controls access.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse, RawPostDataException
from django.urls import URLPattern, path, re_path
from pydantic import TypeAdapter, ValidationError

from apps.accounts.authentication import authenticate, read_claimed_caller, read_headers
from apps.accounts.caller import Caller
from apps.capabilities.skills.stored_skills import SkillAddress, read_skill
from apps.catalog.content import configuration
from apps.catalog.content.installed import installed_content
from apps.catalog.content.skills import installed_skills
from apps.doors.admission import note_denial
from apps.doors.bodies import decode_body
from apps.doors.json_views import allow_methods, nowhere
from apps.errors import (
    BadRequest,
    FileMissing,
    FileRefused,
    NotAuthenticated,
    ServiceFailed,
    Unsupported,
)
from apps.manifest.manifest import FolderSkill, Skill
from apps.manifest.markdown.skill_document import SkillDocument, SkillInvalid, read_skill_document
from apps.manifest.schema.manifest_schema import manifest_schema
from apps.manifest.validation.validation import review
from apps.runs.workspaces import open_workspace
from apps.workspace.dial.core import configured_core

NO_KEY = "Send a valid API key in the Api-Key header."

_skill: TypeAdapter[Any] = TypeAdapter(Skill)


@allow_methods("GET", "HEAD")
def application_schema(request: HttpRequest) -> HttpResponse:
    written = written_schema(
        settings.ENABLE_PREVIEW_FEATURES, settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID
    )
    return HttpResponse(written, content_type="application/json")


@lru_cache(maxsize=4)
def written_schema(preview: bool, default_deployment: str) -> bytes:
    return msgspec.json.encode(
        manifest_schema(preview=preview, default_deployment=default_deployment)
    )


@allow_methods("GET", "HEAD")
def default_configuration(request: HttpRequest) -> JsonResponse:
    """Return the default manifest for a new application, including copies of the predefined
    toolsets.
    """
    return JsonResponse(configuration.default_configuration(installed_content()))


# --- Checking ---------------------------------------------------------------------------------


def detail(status: int, text: object) -> JsonResponse:
    return JsonResponse({"detail": text}, status=status)


def unauthorized_response(request: ASGIRequest, text: str) -> JsonResponse:
    note_denial(request.scope, "configuration-support")
    return detail(401, text)


@allow_methods("POST")
async def validate(request: ASGIRequest) -> JsonResponse:
    """Return the errors and warnings about the manifest in the request body."""
    try:
        await authenticate(request.scope)
        document = decode_body(request.body, msgspec.json.decode)
    except NotAuthenticated as error:
        return unauthorized_response(request, str(error))
    except RequestDataTooBig as error:
        return detail(413, str(error))
    except RawPostDataException:
        return detail(415, "Send JSON, not a form.")
    except BadRequest as error:
        return detail(400, error.message)
    found = review(
        document,
        preview=settings.ENABLE_PREVIEW_FEATURES,
        default_deployment=settings.DEFAULT_ORCHESTRATOR_DEPLOYMENT_ID,
        is_foreign=True,
    )
    errors, warnings = ([*map(asdict, problems)] for problems in (found.errors, found.warnings))
    return JsonResponse({"errors": errors, "warnings": warnings})


# --- Skills -----------------------------------------------------------------------------------


@allow_methods("GET", "HEAD")
def skills(request: HttpRequest) -> JsonResponse:
    """Return the predefined skills."""
    found = installed_skills(installed_content())
    return JsonResponse([skill_metadata(skill.document) for skill in found], safe=False)


@allow_methods("POST")
async def validate_skill(request: ASGIRequest) -> JsonResponse:
    """Read a skill with the caller's key. Return its metadata, or an error about it."""
    try:
        caller = await sender(request)
        skill = _skill.validate_json(request.body)
    except NotAuthenticated:
        return unauthorized_response(request, NO_KEY)
    except RequestDataTooBig as error:
        return detail(413, str(error))
    except RawPostDataException:
        return detail(415, "Send JSON, not a form.")
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        return detail(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems])
    if isinstance(skill, FolderSkill) and not settings.ENABLE_PREVIEW_FEATURES:
        return detail(400, f"Skills of type '{skill.type}' need ENABLE_PREVIEW_FEATURES=true here.")
    checked = await validate_caller(SkillAddress(skill.type, skill.url), caller)
    return unauthorized_response(request, NO_KEY) if checked is None else checked


async def sender(request: ASGIRequest) -> Caller:
    """Return the caller. A key that is not from this installation may be from DIAL Core. Raises
    `NotAuthenticated` if the key is missing or invalid.
    """
    if not read_headers(request.scope["headers"]).api_key:
        raise NotAuthenticated
    try:
        return await authenticate(request.scope)
    except NotAuthenticated:
        stranger = read_claimed_caller(request.scope) if configured_core() is not None else None
        if stranger is None:
            raise
        return stranger


async def validate_caller(address: SkillAddress, caller: Caller) -> JsonResponse | None:
    """Return a response with the skill's metadata or an error about it. Return None if DIAL Core
    rejects the caller's key.
    """
    try:
        text, _, _ = await read_skill(open_workspace(caller), address)
        document = read_skill_document(text, settings.DIAL_SKILLS_FILE_MAX_BYTES)
    except (FileMissing, Unsupported) as error:
        return detail(404, f"'{address.url}' cannot be loaded: {error}")
    except (SkillInvalid, FileRefused) as error:
        return detail(422, str(error))
    except ServiceFailed as error:
        if error.status == 401:
            return None
        if error.reason == "answer":
            return detail(422, str(error))
        return detail(502, f"'{address.url}' cannot be loaded: {error}")
    return JsonResponse(skill_metadata(document))


def skill_metadata(document: SkillDocument) -> dict[str, object]:
    return {
        "name": document.name,
        "description": document.description,
        "license": document.license,
        "compatibility": document.compatibility,
        "metadata": document.metadata,
        "allowed_tools": document.allowed_tools,
    }


urlpatterns: list[URLPattern] = [
    path("application-schema", application_schema),
    path("default-configuration", default_configuration),
    path("skills", skills),
    path("skills/validate", validate_skill),
    path("validate", validate),
    re_path(r"", nowhere),
]
