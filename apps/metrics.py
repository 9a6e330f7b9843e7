"""What a process counts and measures, for Prometheus and OpenTelemetry, whichever it has.

Without either, `is_on` is False and nothing is counted. Labels name providers, models, kinds and
outcomes; never people, conversations, keys, or words that a client chose.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

OTHER = "other"
"""In place of labels that are one too many."""
MOST_SERIES = 1000
"""Of one instrument; some 2 MB in a scrape of the largest histogram."""

Labels = tuple[str, ...]
Tell = Callable[[float], object]
Reading = tuple[Labels, float]


class Sink(Protocol):
    """A system that takes values. Both methods may be called by any thread."""

    def series(self, instrument: "Instrument", labels: Labels) -> Tell: ...

    def watch(self, gauge: "Gauge") -> None: ...


class Instrument:
    """A counter; with `bounds`, a histogram, whose values are counted up to each of them."""

    def __init__(
        self, name: str, text: str, labels: Sequence[str] = (), bounds: Sequence[float] = ()
    ) -> None:
        self.name, self.text = name, text
        self.labels, self.bounds = tuple(labels), tuple(bounds)
        self.known: dict[Labels, tuple[Tell, ...]] = {}
        _instruments.append(self)

    def add(self, value: float, *labels: str) -> None:
        """Count the value, or add it to the histogram."""
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
    """A value of now, which `read` tells when it is asked for; it may ask the database."""

    name: str
    text: str
    read: Callable[[], Iterable[Reading]]
    labels: tuple[str, ...] = ()


_instruments: list[Instrument] = []
_sinks: list[Sink] = []
_lock = Lock()


def connect(sink: Sink, gauges: Iterable[Gauge] = ()) -> None:
    """Tell the sink everything from now on."""
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
