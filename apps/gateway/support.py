"""The API for editors of manifests: schema, default configuration, skills, validation.

`GET` needs no key, as with the reference backend: its answers are the same for everybody, and DIAL
Core decides who may reach it.
"""

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import msgspec
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from pydantic import TypeAdapter, ValidationError

from apps.accounts.authentication import authenticate, claimed
from apps.accounts.caller import Caller
from apps.accounts.sender_headers import read_headers
from apps.capabilities.skills.stored import SkillAddress, read
from apps.catalog.content import configuration
from apps.catalog.content.installed import installed
from apps.catalog.content.skills import installed_skills
from apps.catalog.json_views import only
from apps.doors.denials import note_denial
from apps.errors import FileMissing, FileRefused, NotAuthenticated, ServiceFailed, Unsupported
from apps.manifest.schema import manifest_schema
from apps.manifest.skill_document import SkillDocument, SkillInvalid, read_skill_document
from apps.manifest.skills import FolderSkill, Skill
from apps.manifest.validation import review
from apps.runs.workspaces import open_workspace
from apps.workspace.dial.core import configured_core

NO_KEY = "Send a valid API key in the Api-Key header."

_skill: TypeAdapter[Any] = TypeAdapter(Skill)


@only("GET", "HEAD")
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


@only("GET", "HEAD")
def default_configuration(request: HttpRequest) -> JsonResponse:
    """The manifest of a new application, its predefined toolsets written out."""
    return JsonResponse(configuration.default_configuration(installed()))


# --- Checking ---------------------------------------------------------------------------------


def detail(status: int, text: object) -> JsonResponse:
    return JsonResponse({"detail": text}, status=status)


def unauthorized(request: ASGIRequest, text: str) -> JsonResponse:
    note_denial(request.scope, "configuration-support")
    return detail(401, text)


@only("POST")
async def validate(request: ASGIRequest) -> JsonResponse:
    """The errors and warnings of a manifest."""
    try:
        await authenticate(request.scope)
        document = msgspec.json.decode(request.body)
    except NotAuthenticated as error:
        return unauthorized(request, str(error))
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
    errors, warnings = ([*map(asdict, problems)] for problems in (found.errors, found.warnings))
    return JsonResponse({"errors": errors, "warnings": warnings})


# --- Skills -----------------------------------------------------------------------------------


@only("GET", "HEAD")
def skills(request: HttpRequest) -> JsonResponse:
    """The predefined skills, which every application is offered."""
    found = installed_skills(installed())
    return JsonResponse([skill_metadata(skill.document) for skill in found], safe=False)


@only("POST")
async def validate_skill(request: ASGIRequest) -> JsonResponse:
    """Fetch a skill with the caller's own key, and answer its metadata or what is wrong with it."""
    try:
        caller = await sender(request)
        skill = _skill.validate_json(request.body)
    except NotAuthenticated:
        return unauthorized(request, NO_KEY)
    except RequestDataTooBig as error:
        return detail(413, str(error))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        return detail(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems])
    if isinstance(skill, FolderSkill) and not settings.ENABLE_PREVIEW_FEATURES:
        return detail(400, f"Skills of type '{skill.type}' need ENABLE_PREVIEW_FEATURES=true here.")
    checked = await validated(SkillAddress(skill.type, skill.url), caller)
    return unauthorized(request, NO_KEY) if checked is None else checked


async def sender(request: ASGIRequest) -> Caller:
    """The holder of one of our keys, or of one that may be DIAL Core's. Raises `NotAuthenticated`."""
    if not read_headers(request.scope["headers"]).api_key:
        raise NotAuthenticated
    try:
        return await authenticate(request.scope)
    except NotAuthenticated:
        stranger = claimed(request.scope) if configured_core() is not None else None
        if stranger is None:
            raise
        return stranger


async def validated(address: SkillAddress, caller: Caller) -> JsonResponse | None:
    """None where DIAL Core does not know the caller."""
    try:
        text, _, _ = await read(open_workspace(caller), address)
        document = read_skill_document(text, settings.DIAL_SKILLS_FILE_MAX_BYTES)
    except (FileMissing, Unsupported) as error:
        return detail(404, f"'{address.url}' cannot be read: {error}")
    except (SkillInvalid, FileRefused) as error:
        return detail(422, str(error))
    except ServiceFailed as error:
        if error.status == 401:
            return None
        if error.reason == "answer":
            return detail(422, str(error))
        return detail(502, f"'{address.url}' cannot be read: {error}")
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
