"""Counts and measures events in a process, for Prometheus and OpenTelemetry. Without either,
nothing is counted.

Labels contain names of providers, models, kinds and outcomes, but never users, conversations, keys,
or text from a client.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

OTHER = "other"
"""Once an instrument has `MOST_SERIES` label combinations, all labels of further combinations get
this value.
"""
MOST_SERIES = 1000
"""The maximum number of label combinations (series) per instrument. At this number, the largest
histogram adds about 2 MB to a scrape.
"""

Labels = tuple[str, ...]
Tell = Callable[[float], object]
Reading = tuple[Labels, float]


class Sink(Protocol):
    """A metrics backend, such as Prometheus. Its methods may be called from any thread."""

    def series(self, instrument: "Instrument", labels: Labels) -> Tell: ...

    def watch(self, gauge: "Gauge") -> None: ...


class Instrument:
    """A counter, or a histogram if it has `bounds`, the upper limits of its buckets."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), bounds: Sequence[float] = ()
    ) -> None:
        self.name, self.text = name, text
        self.labels, self.bounds = tuple(labels), tuple(bounds)
        self.known: dict[Labels, tuple[Tell, ...]] = {}
        _instruments.append(self)

    def add(self, value: float, *labels: str) -> None:
        """Increase the counter by `value`, or record it in the histogram, with these label values."""
        for tell in self.known.get(labels) or self.begin(labels):
            tell(value)

    def begin(self, labels: Labels) -> tuple[Tell, ...]:
        with _lock:
            if labels not in self.known and len(self.known) >= MOST_SERIES:
                labels = (OTHER,) * len(self.labels)
            if labels not in self.known:
                self.known[labels] = tuple(sink.series(self, labels) for sink in _sinks)
            return self.known[labels]


@dataclass(frozen=True, slots=True)
class Gauge:
    """A metric with a current value. `read` is called at each collection, and may query the
    database.
    """

    name: str
    text: str
    read: Callable[[], Iterable[Reading]]
    labels: tuple[str, ...] = ()


_instruments: list[Instrument] = []
_sinks: list[Sink] = []
_lock = Lock()


def connect(sink: Sink, gauges: Iterable[Gauge] = ()) -> None:
    """Start reporting all instruments and these gauges to the sink."""
    with _lock:
        _sinks.append(sink)
        forget_series()
    for gauge in gauges:
        sink.watch(gauge)


def disconnect(sink: Sink) -> None:
    with _lock:
        _sinks.remove(sink)
        forget_series()


def forget_series() -> None:
    for instrument in _instruments:
        instrument.known = {}


def is_on() -> bool:
    return bool(_sinks)
