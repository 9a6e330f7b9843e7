"""The measurements of one system in one round."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from benchmarks.load import Outcome, Question, ask_all, connect, load, percentile
from benchmarks.processes import Process

WARM_UP = 20


@dataclass(frozen=True)
class System:
    """A running server and its address. `application` is the name that DIAL Core would send."""

    name: str
    process: Process
    path: str
    key: str
    application: str = ""

    def write(self, question: Question) -> bytes:
        return question.write(self.path, self.key, self.application)


@dataclass(frozen=True)
class Effort:
    """The amount of work: the numbers of questions, clients and streams."""

    rounds: int
    requests: int
    streams: int
    tokens: int
    alone: int
    burst: int
    held: int
    held_ms: int


FULL = Effort(
    rounds=5, requests=40, streams=3, tokens=100, alone=60, burst=300, held=1000, held_ms=30_000
)
SMOKE = Effort(
    rounds=1, requests=5, streams=1, tokens=40, alone=10, burst=50, held=50, held_ms=3000
)
CLIENTS = 8
HELD_TOGETHER = 50
PACE_MS = 10.0
"""The delay between two tokens. It is long enough that no system gets two tokens in one read."""


class Failed(Exception):
    """An answer had an error, so no measurement of this system is reliable."""


async def measure(
    system: System, tool: str, effort: Effort, direct_ms: float, errors: list[str]
) -> dict[str, float]:
    """Measure CPU microseconds per request, per request with a tool turn, and per token; then
    latencies. `direct_ms` is the time to the first token without a system in between. Failed
    measures are omitted and listed in `errors`."""
    found: dict[str, float] = {}
    try:
        found["request"] = await cpu(system, Question(), CLIENTS, effort.requests)
        if tool:
            found["tool"] = await cpu(system, Question(tool=tool), CLIENTS, effort.requests)
        long = Question(tokens=effort.tokens, delay_ms=PACE_MS)
        stream = await cpu(system, long, CLIENTS, effort.streams)
        found["chunk"] = (stream - found["request"]) / (effort.tokens - 1)
        alone = await ask(system, Question(), 1, effort.alone)
        found["first"] = max(percentile(alone.first, 0.5) - direct_ms, 0.001)
        burst = await ask(system, Question(), effort.burst, 1)
        found["burst"] = percentile(burst.first, 0.99)
    except Failed as failure:
        errors.append(str(failure))
    return found


async def cpu(system: System, question: Question, clients: int, times: int) -> float:
    """Return the CPU microseconds of the server per answer."""
    before = system.process.cpu()
    outcome = await ask(system, question, clients, times)
    return (system.process.cpu() - before) / outcome.answers * 1e6


async def ask(system: System, question: Question, clients: int, times: int) -> Outcome:
    request = system.write(question)
    outcome = await load(system.process.port, request, question, clients=clients, times=times)
    if outcome.errors:
        raise Failed(f"{system.name}: {len(outcome.errors)} errors, first: {outcome.errors[0]}")
    return outcome


async def warm_up(system: System, tool: str) -> None:
    await ask(system, Question(), 2, WARM_UP)
    if tool:
        await ask(system, Question(tool=tool), 2, WARM_UP)


async def direct(port: int, effort: Effort) -> float:
    """Return the milliseconds to the first token of the model itself."""
    request = Question().write("/v1/chat/completions", "")
    outcome = await load(port, request, Question(), clients=1, times=effort.alone)
    return percentile(outcome.first, 0.5)


async def hold(system: System, streams: int, held_ms: int) -> float:
    """Return the KiB of each of many streams while it waits for its second token. Raises `Failed`.
    The streams begin in groups, because bursts are measured separately."""
    await ask(system, Question(tokens=2, delay_ms=1), 4, 5)
    clients = await connect(system.process.port, streams)
    idle = system.process.memory()
    question = Question(tokens=2, delay_ms=held_ms)
    request = system.write(question)
    asking = []
    for begin in range(0, streams, HELD_TOGETHER):
        group = clients[begin : begin + HELD_TOGETHER]
        asking.append(asyncio.ensure_future(ask_all(group, request, question, 1)))
        while not all(client.under_way or client.done.done() for client in group):
            await asyncio.sleep(0.01)
    held = system.process.memory()
    waiting = sum(not client.done.done() for client in clients)
    outcomes = await asyncio.gather(*asking)
    for client in clients:
        client.transport.close()
    errors = [error for outcome in outcomes for error in outcome.errors]
    if errors or waiting < streams:
        first = errors[0] if errors else "some ended before the last began"
        raise Failed(f"{system.name}: {waiting} of {streams} streams were held, {first}")
    return (held - idle) / streams / 1024
