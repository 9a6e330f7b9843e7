"""A background response whose process is killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from tests.live.slow_service import serve_slow_service
from tests.live.test_survival import BEGUN, FINISHED, LEASE, PREPARE, SLUG, manifest
from tests.load.processes import until
from tests.sites.serving import Site, serve_process
from tests.sites.websocket import PATIENCE

KEY = """
from apps.accounts.models import ApiKey
result = ApiKey.objects.create_key(name="program")[1]
"""


def client_of(site: Site, key: str) -> OpenAI:
    return OpenAI(base_url=f"{site.url}/v1", api_key=key, max_retries=0, timeout=PATIENCE)


@pytest.mark.full
@pytest.mark.slow("starts a site, kills it, and waits for the next to take over")
def test_a_background_response_is_finished_by_the_next_process(tmp_path: Path):
    with serve_slow_service() as service:
        with serve_process(tmp_path, **LEASE) as (site, process):
            urls = {"url": service.url, "main_url": f"{service.url}/busy"}
            site.shell(PREPARE, **urls, slug=SLUG, manifest=manifest(service.url))
            key = site.shell(KEY)
            seen: list[Any] = []
            with (
                client_of(site, key) as client,
                client.responses.create(
                    model=SLUG, input="Look for me.", background=True, stream=True
                ) as stream,
            ):
                for event in stream:
                    seen.append(event)
                    if event.type == "response.output_text.delta":
                        break
            assert service.is_slow.wait(PATIENCE)
            assert until(PATIENCE, lambda: site.shell(BEGUN))
            process.kill()
            process.wait(PATIENCE)
        service.may_end.set()
        with (
            serve_process(tmp_path, **LEASE) as (next_site, _),
            client_of(next_site, key) as client,
        ):
            last = seen[-1].sequence_number
            rest: list[Any] = list(
                client.responses.retrieve(seen[0].response.id, stream=True, starting_after=last)
            )

    assert rest[0].sequence_number > last
    assert (rest[-1].response.status, rest[-1].response.output_text) == (
        "completed",
        FINISHED["answer"][0],
    )
