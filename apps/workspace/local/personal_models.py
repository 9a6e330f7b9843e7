"""Models that are asked with a person's own key."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from channels.db import database_sync_to_async
from django.utils.translation import gettext

from apps.agent.events import Noticed
from apps.agent.model import Delta, Model, ModelRequest, Payer
from apps.errors import ModelFailed, PersonalKeyRefused
from apps.manifest.servers import origin_of
from apps.workspace.local.deployments import FoundDeployment
from apps.workspace.local.personal_keys import find_key, host_of
from apps.workspace.local.providers import make_model
from apps.workspace.port import KeyUse
from apps.workspace.stored_files import Files

REFUSED = frozenset({401, 402, 403})
NO_MONEY = "insufficient_quota"
NOTICE = "personal-key"


@dataclass(frozen=True, slots=True)
class PersonalModel:
    """Asks with the key of a person; with the installation's where that is refused, if it may."""

    personal: Model
    host: str
    installed: Model | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Raises `ModelFailed`, `PersonalKeyRefused`."""
        has_begun = False
        try:
            async with aclosing(self.personal.stream(request)) as batches:
                yield (Payer(is_person=True),)
                async for batch in batches:
                    has_begun = True
                    yield batch
            return
        except ModelFailed as failure:
            if has_begun or not is_refusal(failure):
                raise
            if self.installed is None:
                raise PersonalKeyRefused(self.host) from failure
        text = gettext(
            "{host} did not accept your key, so the key of this installation was used."
        ).format(host=self.host)
        async with aclosing(self.installed.stream(request)) as batches:
            yield (Payer(is_person=False), Noticed(NOTICE, text))
            async for batch in batches:
                yield batch


def may_follow(other: Model, first: Model) -> bool:
    """Whether another deployment may answer in the place of the `first`: who pays alone for that
    one, with no key of the installation behind it, does not let the installation pay for others.
    """
    if not isinstance(first, PersonalModel) or first.installed is not None:
        return True
    return isinstance(other, PersonalModel)


def is_refusal(failure: ModelFailed) -> bool:
    return failure.status in REFUSED or failure.code == NO_MONEY


def with_key(found: FoundDeployment, key: str) -> FoundDeployment:
    return replace(found, api_key=key, api_key_env="")


async def paid_model(
    found: FoundDeployment,
    *,
    files: Files,
    idle_seconds: float | None,
    user_id: int | None = None,
    use: KeyUse = "platform",
) -> Model:
    """The model with the key of that person, if they have one for its service.

    It is read for each run, so a key that was removed is not sent again. Raises `DeploymentNotFound`
    for a deployment that answers nothing.
    """
    make = partial(make_model, files=files, idle_seconds=idle_seconds)
    if user_id is None or not found.takes_personal_keys:
        return make(found)
    find = database_sync_to_async(find_key)
    key: str = await find(user_id, found.provider, found.base_url)
    if not key:
        return make(found)
    personal = make(with_key(found, key))
    installed = make(found) if use == "person_first" else None
    return PersonalModel(personal, host_of(origin_of(found.base_url)), installed)
