"""Measures a process's HTTP requests and its event loop."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from apps.insights.call_metrics import DURATIONS
from apps.live import doors
from apps.metrics import OTHER, Instrument

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
AREAS = (
    *((start, door) for door, starts in doors.PATHS.items() for start in starts),
    ("/chat/", "page"),
    ("/admin/", "admin"),
    ("/api/", "api"),
    ("/static/", "static"),
    ("/healthz", "health"),
    ("/readyz", "health"),
    ("/metrics", "health"),
)
"""Pairs of a path prefix and the area that labels its requests in metrics."""
ANSWERING = ("/chat/completions", "/embeddings", "/responses", "/messages")
"""The suffixes of the gateway's paths for model calls. Each is a separate area in metrics."""
CUT_OFF = "none"
"""The value of the label `status` if the client disconnected before the response began."""
LAG_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
LAG_PAUSE = 0.5
"""The interval in seconds between measurements of the event loop's lag."""

REQUESTS = Instrument("quickapps_http_requests", "HTTP requests.", ("area", "method", "status"))
REQUEST_SECONDS = Instrument(
    "quickapps_http_seconds",
    "The duration of HTTP requests until the last byte of the response.",
    ("area",),
    DURATIONS,
)
LOOP_LAG = Instrument(
    "quickapps_event_loop_lag_seconds",
    "The delay after which a task of the event loop resumes.",
    (),
    LAG_BOUNDS,
)


def with_request_metrics(application: Any) -> Any:
    """Return an ASGI application that records the number and the duration of HTTP requests."""

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        started, status = time.perf_counter(), CUT_OFF

        def watched(message: Any) -> Awaitable[None]:
            # The function is not a coroutine, because it is called for each chunk of an answer.
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            sent: Awaitable[None] = send(message)
            return sent

        try:
            await application(scope, receive, watched)
        finally:
            area = area_of(scope["path"])
            method = scope["method"] if scope["method"] in METHODS else OTHER
            REQUESTS.add(1, area, method, status)
            REQUEST_SECONDS.add(time.perf_counter() - started, area)

    return counted


def area_of(path: str) -> str:
    area = next((name for start, name in AREAS if path.startswith(start)), "page")
    if area == doors.GATEWAY:
        return next(
            (end.rpartition("/")[2] for end in ANSWERING if path.rstrip("/").endswith(end)), area
        )
    return area


async def measure_lag() -> None:
    """Measure how late the event loop runs its timers, until the process ends."""
    while True:
        due = time.perf_counter() + LAG_PAUSE
        await asyncio.sleep(LAG_PAUSE)
        LOOP_LAG.add(max(0.0, time.perf_counter() - due))
