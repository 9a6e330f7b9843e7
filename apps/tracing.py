"""Makes requests, runs and jobs traceable: each has an ID, which its log lines contain, and spans
for its steps if the process has an OpenTelemetry SDK.

Without an SDK, the caller's `traceparent` is forwarded unchanged. Spans contain names, counts and
kinds of failures, but no messages, headers or arguments.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from uuid import uuid4

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import INVALID_SPAN, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

LONGEST_ID = 128
ACCEPTED_ID = re.compile(rf"[A-Za-z0-9._:/+=@-]{{1,{LONGEST_ID}}}")
NAME = "quickapps"
FIELDS = {b"traceparent": "traceparent", b"tracestate": "tracestate"}

Attributes = Mapping[str, str | int]

_request_id: ContextVar[str] = ContextVar("request_id", default="")
_w3c = TraceContextTextMapPropagator()

NOTHING = nullcontext(INVALID_SPAN)

_tracer: trace.Tracer | None = None


def request_id() -> str:
    """Return the ID of the current request, run or job, or "" outside of them."""
    return _request_id.get()


def accepted_or_new_id(sent: str) -> str:
    """Return the ID that a client sent if it is well-formed, or else a new one."""
    return sent if ACCEPTED_ID.fullmatch(sent) else uuid4().hex


def begin_request(request_id: str) -> None:
    """Set the ID for the rest of the current asyncio task."""
    _request_id.set(request_id)


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """Set the ID inside the block, and for tasks that the block starts."""
    token = _request_id.set(request_id)
    try:
        yield
    finally:
        _request_id.reset(token)


def start() -> None:
    """Start creating spans with the process's tracer provider."""
    global _tracer
    _tracer = trace.get_tracer(NAME)


def detached_span(
    name: str,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
) -> AbstractContextManager[Span]:
    """Return a context manager that creates a span without making it the current one.

    Use it in asynchronous generators, because their code runs in the context of the consumer.
    """
    if _tracer is None:
        return NOTHING
    return ending(_tracer.start_span(name, parent, kind=kind, attributes=attributes))


def span(
    name: str,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
) -> AbstractContextManager[Span]:
    """Return a context manager that creates a span and makes it the current one, so that new spans
    are its children.
    """
    return NOTHING if _tracer is None else current(detached_span(name, attributes, kind, parent))


@contextmanager
def current(block: AbstractContextManager[Span]) -> Iterator[Span]:
    with block as made, within(made):
        yield made


@contextmanager
def ending(made: Span) -> Iterator[Span]:
    try:
        yield made
    except Exception as error:
        made.set_attribute("error.type", type(error).__name__)
        made.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        made.end()


def within(made: Span) -> AbstractContextManager[Span]:
    if _tracer is None:
        return NOTHING
    return trace.use_span(made, record_exception=False, set_status_on_exception=False)


def received_context(headers: Iterable[tuple[bytes, bytes]]) -> Context | None:
    """Return the trace context in the headers of an ASGI request, or None without a tracing SDK."""
    if _tracer is None:
        return None
    found = {FIELDS[name]: value.decode("latin-1") for name, value in headers if name in FIELDS}
    return _w3c.extract(found)


def headers() -> dict[str, str]:
    """Return headers that pass the current span to another service, or {} without a tracing SDK."""
    sent: dict[str, str] = {}
    if _tracer is not None:
        _w3c.inject(sent)
    return sent
