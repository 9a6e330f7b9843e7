"""The services and prices of all deployments, so that a cost is told without asking the database."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from django.conf import settings

from apps.insights.prices import DIAL, Service, find_services
from apps.workspace.local.models import Deployment


class PriceList:
    """As it was when it was last refreshed; empty before that."""

    def __init__(self) -> None:
        self.services: Mapping[str, Service] = {}
        self.read_at: float | None = None

    def refresh(self) -> None:
        """Read it again if it is older than `CATALOG_MAX_AGE_SECONDS`. Synchronous: three queries."""
        now = time.monotonic()
        if self.read_at is not None and now - self.read_at < settings.CATALOG_MAX_AGE_SECONDS:
            return
        names = Deployment.objects.values_list("deployment_id", flat=True)
        self.services, self.read_at = find_services(set(names)), now
        today = datetime.now(UTC).date()
        for service in self.services.values():
            service.rates(service.model, today)  # read and kept here, and not while answers stream

    def service(self, deployment: str) -> Service:
        """Of one without a row, DIAL Core's."""
        return self.services.get(deployment) or Service(DIAL, deployment, title=deployment)


PRICES = PriceList()
"""Of this process."""
