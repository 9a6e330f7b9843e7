"""Benchmarks with failed measurements fail, and print the others."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import kills, measures, report, run
from benchmarks.killed_counts import Counts


@pytest.mark.parametrize(("killed", "status"), [(0, 1), (3, 0)])
def test_a_run_without_a_kill_fails_and_says_so(monkeypatch, capsys, killed, status):
    def measured(*given: Any, **settings: Any) -> dict[str, Counts]:
        return {"SQLite": Counts(kills=killed, runs=3)}

    monkeypatch.setattr(kills, "measure", measured)
    monkeypatch.setattr(sys, "argv", ["kills", "--kills", "0"])

    assert kills.main() == status
    assert ("SQLite: no process was killed" in capsys.readouterr().out) == (killed == 0)


def test_what_was_measured_is_printed_when_the_memory_is_not(monkeypatch, capsys):
    class Stopped:
        def stop(self) -> None: ...

    def begin() -> measures.System:
        return measures.System(report.PEER, Stopped(), "/", "")  # type: ignore[arg-type]

    async def measured(*given: Any) -> dict[str, float]:
        return {"request": 2.0}

    async def nothing(*given: Any) -> None: ...

    async def no_memory(*given: Any) -> float:
        raise OSError("no memory to measure")

    monkeypatch.setattr(run, "starts_of", lambda *given: {report.PEER: begin})
    monkeypatch.setattr(run, "run_module", lambda *given, **more: SimpleNamespace(stop=nothing))
    monkeypatch.setattr(run, "stopped", lambda process: ExitStack())
    monkeypatch.setattr(os, "sched_setaffinity", lambda *given: None)
    monkeypatch.setattr(run, "allow_many_connections", lambda: None)
    monkeypatch.setattr(measures, "warm_up", nothing)
    monkeypatch.setattr(measures, "direct", nothing)
    monkeypatch.setattr(measures, "measure", measured)
    monkeypatch.setattr(measures, "hold", no_memory)
    monkeypatch.setattr(sys, "argv", ["run", "--smoke"])

    status = run.main()

    printed = capsys.readouterr().out
    assert status == 1
    assert f"| {report.PEER} | 2.0 |" in printed
    assert f"error: memory of {report.PEER}: OSError('no memory to measure')" in printed
