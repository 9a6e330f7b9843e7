"""Stores users' own keys for model services, and calls models with them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext

from apps.agent.events import NoticeAdded
from apps.agent.model import Delta, Model, ModelRequest, Payer
from apps.errors import ModelFailed, PersonalKeyRefused
from apps.manifest.servers import origin_of
from apps.workspace.local.deployments.deployment import BUILT_IN_PROVIDERS, Deployment
from apps.workspace.local.secrets.field import SecretField

LONGEST_ORIGIN = 300
LONGEST_KEY = 1_000
REFUSED = frozenset({401, 402, 403})
NO_MONEY = "insufficient_quota"
NOTICE = "personal-key"


class PersonalKey(models.Model):
    """One user's key for one service. A provider and an origin identify the service.

    The key is sent only to that service. If a deployment's URL changes to a different origin, the
    deployment needs a different key.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="model_keys")
    provider = models.CharField(max_length=20)
    origin = models.CharField(max_length=LONGEST_ORIGIN)
    key = SecretField()
    stored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("user", "provider", "origin"), name="one_key_of_a_person_for_a_service"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} at {self.origin}"

    @property
    def host(self) -> str:
        return host_of(self.origin)


@dataclass(frozen=True, slots=True)
class KeyService:
    """A service that accepts users' own keys, and its deployments."""

    provider: str
    origin: str
    deployments: tuple[Deployment, ...]

    @property
    def host(self) -> str:
        return host_of(self.origin)

    @property
    def name(self) -> str:
        """Return the name of the form field for the user's key to this service."""
        return f"{self.provider}|{self.origin}"


def key_services() -> Sequence[KeyService]:
    """Return the services that accept users' keys, sorted by host."""
    rows = Deployment.objects.filter(is_enabled=True, takes_personal_keys=True)
    found: dict[tuple[str, str], list[Deployment]] = {}
    for row in rows.exclude(provider__in=BUILT_IN_PROVIDERS):
        found.setdefault((row.provider, origin_of(row.address)), []).append(row)
    services = [KeyService(*place, tuple(rows)) for place, rows in found.items()]
    return sorted(services, key=lambda service: (service.host, service.provider))


def find_key(user_id: int, provider: str, base_url: str) -> str:
    """Return the user's key for requests to this URL, or "" if the user is inactive or has no key
    that can be decrypted.
    """
    keys = PersonalKey.objects.filter(user=user_id, provider=provider, origin=origin_of(base_url))
    row = keys.filter(user__is_active=True).first()
    return row.key if row is not None else ""


def store_key(user_id: int, service: KeyService, key: str) -> None:
    PersonalKey.objects.update_or_create(
        user_id=user_id,
        provider=service.provider,
        origin=service.origin,
        defaults={"key": key, "stored_at": timezone.now()},
    )


def host_of(origin: str) -> str:
    return urlsplit(origin).netloc or origin


@dataclass(frozen=True, slots=True)
class PersonalModel:
    """A model that is called with the user's key. If the service rejects the key, the model is
    called with the installation's key, if this is allowed.
    """

    personal: Model
    host: str
    installed: Model | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Sequence[Delta], None]:
        """Call the model, and yield its answer. Raises `ModelFailed` if the service fails, and
        `PersonalKeyRefused` if it rejects the user's key and the installation's key is not allowed.
        """
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
            "{host} did not accept your key, so this installation’s key was used."
        ).format(host=self.host)
        async with aclosing(self.installed.stream(request)) as batches:
            yield (Payer(is_person=False), NoticeAdded(NOTICE, text))
            async for batch in batches:
                yield batch


def may_follow(other: Model, first: Model) -> bool:
    """Return True if `other` may be a fallback of `first`. If only the user's key may be used for
    `first`, the installation's keys must not be used for its fallbacks.
    """
    if not isinstance(first, PersonalModel) or first.installed is not None:
        return True
    return isinstance(other, PersonalModel)


def is_refusal(failure: ModelFailed) -> bool:
    return failure.status in REFUSED or failure.code == NO_MONEY
