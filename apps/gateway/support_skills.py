"""Skills for editors of manifests: which are installed, and whether another one can be used."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, JsonResponse
from pydantic import TypeAdapter, ValidationError

from apps.accounts.authentication import authenticate, claimed, read_headers
from apps.accounts.caller import Caller
from apps.capabilities.skills.stored import SkillAddress, read
from apps.catalog.content.installed import installed
from apps.catalog.content.skills import installed_skills
from apps.catalog.json_views import only
from apps.errors import FileMissing, FileRefused, NotAuthenticated, ServiceFailed, Unsupported
from apps.gateway.support import detail
from apps.manifest.skill_document import SkillDocument, SkillInvalid, read_skill_document
from apps.manifest.skills import FolderSkill, Skill
from apps.runs.workspaces import open_workspace
from apps.workspace.dial.core import configured_core

NO_KEY = "Send a valid API key in the Api-Key header."

_skill: TypeAdapter[Any] = TypeAdapter(Skill)


@only("GET", "HEAD")
def skills(request: HttpRequest) -> JsonResponse:
    """The predefined skills that every application is offered."""
    found = installed_skills(installed())
    return JsonResponse([metadata(skill.document) for skill in found], safe=False)


@only("POST")
async def validate_skill(request: ASGIRequest) -> JsonResponse:
    """Fetch a skill with the key of whoever asks, and say what it is or what is wrong with it."""
    try:
        caller = await sender(request)
        skill = _skill.validate_json(request.body)
    except NotAuthenticated:
        return detail(401, NO_KEY)
    except RequestDataTooBig as error:
        return detail(413, str(error))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        return detail(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems])
    if isinstance(skill, FolderSkill) and not settings.ENABLE_PREVIEW_FEATURES:
        return detail(400, f"Skills of type '{skill.type}' need ENABLE_PREVIEW_FEATURES=true here.")
    return await validated(SkillAddress(skill.type, skill.url), caller)


async def sender(request: ASGIRequest) -> Caller:
    """The holder of one of our keys, or whoever sends a key that only DIAL Core can know.

    Raises `NotAuthenticated`.
    """
    if not read_headers(request.scope["headers"]).api_key:
        raise NotAuthenticated
    try:
        return await authenticate(request.scope)
    except NotAuthenticated:
        stranger = claimed(request.scope) if configured_core() is not None else None
        if stranger is None:
            raise
        return stranger


async def validated(address: SkillAddress, caller: Caller) -> JsonResponse:
    """Nothing is fetched but with the caller's own key, so that everybody sees what is theirs."""
    try:
        text, _, _ = await read(open_workspace(caller), address)
        document = read_skill_document(text, settings.DIAL_SKILLS_FILE_MAX_BYTES)
    except (FileMissing, Unsupported) as error:
        return detail(404, f"'{address.url}' cannot be read: {error}")
    except (SkillInvalid, FileRefused) as error:
        return detail(422, str(error))
    except ServiceFailed as error:
        if error.status == 401:
            return detail(401, NO_KEY)
        if error.reason == "answer":
            return detail(422, str(error))
        return detail(502, f"'{address.url}' cannot be read: {error}")
    return JsonResponse(metadata(document))


def metadata(document: SkillDocument) -> dict[str, object]:
    """What a skill says of itself; null for what it does not say."""
    return {
        "name": document.name,
        "description": document.description,
        "license": document.license,
        "compatibility": document.compatibility,
        "metadata": document.metadata,
        "allowed_tools": document.allowed_tools,
    }
