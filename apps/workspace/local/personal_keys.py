"""Keys with which people pay for services of models themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.manifest.servers import origin_of
from apps.workspace.local.deployment import BUILT_IN_PROVIDERS, Deployment
from apps.workspace.local.secrets import SecretField

LONGEST_ORIGIN = 300
LONGEST_KEY = 1_000


class PersonalKey(models.Model):
    """The key of one person for one service, which is a provider at an origin.

    It is sent there alone: a deployment whose address moves to another origin needs another key.
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
    """A service that takes keys of people, and the deployments that are asked there."""

    provider: str
    origin: str
    deployments: tuple[Deployment, ...]

    @property
    def host(self) -> str:
        return host_of(self.origin)

    @property
    def name(self) -> str:
        """The name of its form field."""
        return f"{self.provider}|{self.origin}"


def key_services() -> Sequence[KeyService]:
    """The services that take keys of people, in the order of their hosts."""
    rows = Deployment.objects.filter(is_enabled=True, takes_personal_keys=True)
    found: dict[tuple[str, str], list[Deployment]] = {}
    for row in rows.exclude(provider__in=BUILT_IN_PROVIDERS):
        found.setdefault((row.provider, origin_of(row.address)), []).append(row)
    services = [KeyService(*place, tuple(rows)) for place, rows in found.items()]
    return sorted(services, key=lambda service: (service.host, service.provider))


def find_key(user_id: int, provider: str, base_url: str) -> str:
    """The person's key for requests to this address; "" without one, or with an unreadable one."""
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
