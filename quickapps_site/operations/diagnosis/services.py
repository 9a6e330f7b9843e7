"""Collects the diagnostic report's sections on Redis, the channel layer, file storage and model
providers.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings

from apps import process_state
from apps.live.process.health import channel_layer_delivers
from apps.redis_clients import blocking_client
from apps.workspace.local.deployments.fallbacks import breaker_store, key_of_row
from apps.workspace.local.deployments.found_deployments import FoundDeployment, read_row
from apps.workspace.local.deployments.probes import probe_deployment
from apps.workspace.local.files.storage import storage as file_storage
from apps.workspace.local.models import Deployment
from quickapps_site.operations.diagnosis.round_trips import clock_difference, measure, measure_async
from quickapps_site.operations.diagnosis.variables import hide_passwords

MODEL_SECONDS = 10.0
MOST_MODELS = 40
MODELS_AT_ONCE = 10
ALL_MODELS_SECONDS = MODEL_SECONDS * MOST_MODELS / MODELS_AT_ONCE + 5
CONTENT = b"A file of the command diagnose, which deletes it."


def redis() -> dict[str, Any] | str:
    if not settings.REDIS_URL:
        return "REDIS_URL is not set."
    client: Any = blocking_client()
    client.ping()  # This connects.
    about = of_one_node(client.info(), "redis_version")
    return {
        **measure(client.ping),
        "version": about["redis_version"],
        "used_bytes": about["used_memory"],
        "most_bytes": about["maxmemory"],
        "clients": about["connected_clients"],
        "evicted_keys": about["evicted_keys"],
        "clock_ahead_seconds": clock_difference(partial(redis_time, client)),
    }


def of_one_node(answer: Any, key: str) -> Any:
    """Return the response of the first node. A Redis cluster's client returns a response from each
    node.
    """
    return answer if key in answer else next(iter(answer.values()))


def redis_time(client: Any) -> float:
    answer = client.time()
    seconds, microseconds = next(iter(answer.values())) if isinstance(answer, dict) else answer
    return float(seconds + microseconds / 1_000_000)


def channel_layer() -> dict[str, float]:
    return asyncio.run(measure_async(channel_layer_delivers))


def storage() -> dict[str, Any]:
    """Write, read and delete a small file. Return the storage's location and the durations."""
    files, name = file_storage(), f"diagnosis-{uuid4()}"

    def write() -> None:
        files.put(name, (CONTENT,))

    def read() -> None:
        with files.open(name) as stored:
            if stored.whole() != CONTENT:
                raise ValueError(
                    "The file storage returned content that differs from what was written."
                )

    try:
        return {"location": files.location, "write": measure(write), "read": measure(read)}
    finally:
        files.delete(name)


def breakers() -> dict[str, str]:
    """Return how long each open circuit breaker remains open, as text by deployment ID."""
    seconds = run(open_seconds)
    rows = Deployment.objects.in_bulk()
    names = {key_of_row(row.pk, row.version): row.deployment_id for row in rows.values()}
    return {
        names[key]: f"open for another {left:.0f} s" if left else "open, the next call tries it"
        for key, left in seconds.items()
        if key in names
    }


async def open_seconds() -> dict[str, float]:
    return await breaker_store().open_seconds()


def deployments(*, ask: bool) -> list[dict[str, Any]]:
    """Describe the enabled deployments. With `ask`, send each a short question, and include the
    outcome.
    """
    rows = Deployment.objects.filter(is_enabled=True).order_by("deployment_id")[:MOST_MODELS]
    found = [read_row(row) for row in rows]
    listed = [
        {
            "id": one.info.id,
            "kind": one.info.kind,
            "provider": one.provider,
            "host": urlsplit(one.base_url).hostname or "",
        }
        for one in found
    ]
    if not ask:
        return listed
    outcomes = run(partial(ask_models, found))
    return [one | outcome for one, outcome in zip(listed, outcomes, strict=True)]


async def ask_models(found: list[FoundDeployment]) -> list[dict[str, Any]]:
    slots = asyncio.Semaphore(MODELS_AT_ONCE)

    async def outcome_of(one: FoundDeployment) -> dict[str, Any]:
        async with slots:
            try:
                result = await probe_deployment(one, MODEL_SECONDS)
            except Exception as error:  # noqa: BLE001 - the report says which one failed
                return {"failed": type(error).__name__}
        if result.failed is not None:
            return {"failed": result.failed, "text": hide_passwords(result.text)}
        return {"seconds": None if result.seconds is None else round(result.seconds, 2)}

    return await asyncio.gather(*map(outcome_of, found))


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine on a new event loop, and return its result. Close this loop's clients."""

    async def working() -> Any:
        try:
            return await work()
        finally:
            await process_state.close_loop_objects()

    return asyncio.run(working())
