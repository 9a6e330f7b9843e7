"""Print the modules of `apps/` that a warm answer of the gateway enters.

    python -m benchmarks.modules

The benchmark's site answers in this process, with the fake model behind it. Modules that run
functions during the second request are printed with these functions; the counts follow. With
`--publish`, the request publishes a draft through `/api/` instead.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.processes import free_port, start
from benchmarks.systems import shipped

APPS = str(shipped.ROOT / "apps") + os.sep
PATH = f"/openai/deployments/{shipped.SLUG}/chat/completions"
Entered = dict[str, list[str]]
"""Module → its functions, in the order of their first calls."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--whole", action="store_true", help="one JSON answer instead of a stream")
    parser.add_argument("--publish", action="store_true", help="publish a draft instead")
    options = parser.parse_args()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        model = start(
            ["-m", "benchmarks.fake_llm", "--port", str(port)],
            port=port,
            core=min(os.sched_getaffinity(0)),
        )
        try:
            settings = shipped.environment(Path(folder), f"http://127.0.0.1:{port}/v1", 1)
            key = shipped.prepare(settings)
            os.environ.update(settings)
            if options.publish:
                entered = second_publish()
            else:
                entered = asyncio.run(second_request(key, not options.whole))
        finally:
            model.stop()
    for module in sorted(entered):
        print(f"{module}: {', '.join(entered[module])}")
    rooms = Counter(module.partition(".")[0] for module in entered)
    print(f"{len(entered)} modules:", ", ".join(f"{n} {room}" for room, n in rooms.most_common()))


async def second_request(key: str, is_streamed: bool) -> Entered:
    from quickapps_site.asgi import application

    await request(application, key, is_streamed)
    with noting() as entered:
        await request(application, key, is_streamed)
    return entered


def second_publish() -> Entered:
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.test import Client

    from apps.catalog.models import OperatorKey

    operator = User.objects.create_superuser("operator")
    _, key = OperatorKey.objects.create_key(name="bench", user=operator)
    client = Client(headers={"host": "localhost", "authorization": f"Bearer {key}"})
    publish_draft(client, "First")
    return publish_draft(client, "Second")


def publish_draft(client: Any, title: str) -> Entered:
    """Save a draft and publish it. Raises `RuntimeError` if either is refused."""
    address, kind = f"/api/applications/{shipped.SLUG}/", "application/json"
    saved = client.put(f"{address}draft/", {"title": title}, content_type=kind)
    with noting() as entered:
        made = client.post(f"{address}publish/", {"note": title}, content_type=kind)
    if (saved.status_code, made.status_code) != (200, 200):
        raise RuntimeError(f"An unexpected answer: {saved.content!r} {made.content!r}")
    return entered


@contextmanager
def noting() -> Iterator[Entered]:
    """Record the functions of `apps/` that are called within the block."""
    entered: Entered = defaultdict(list)

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(APPS):
            return
        module = code.co_filename.removeprefix(APPS).removesuffix(".py").replace(os.sep, ".")
        if code.co_qualname not in entered[module]:
            entered[module].append(code.co_qualname)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def request(
    application: Any, key: str, is_streamed: bool, *, tokens: int = 3, delay_ms: int = 0
) -> None:
    """Request that many words. Raises `RuntimeError` if the answer lacks them."""
    wish = f"tokens={tokens} delay_ms={delay_ms} first_ms=0 tool="
    body = {"messages": [{"role": "user", "content": wish}], "stream": is_streamed}
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "http.request", "body": json.dumps(body).encode()})
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"api-key", key.encode())],
        "client": ("127.0.0.1", 50000),
    }
    await application(scope, incoming.get, send)
    text = b"".join(message.get("body", b"") for message in sent)
    if sent[0]["status"] != 200 or text.count(b"<") != tokens:
        raise RuntimeError(f"An unexpected answer: {sent[0]['status']} {text!r}")


if __name__ == "__main__":
    main()
