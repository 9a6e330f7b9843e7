"""Measure the cost of the built-in embedding model.

    python -m benchmarks.embeddings

Times are CPU times of the process, so a busy machine changes them little. Memory is reported by the
kernel: the process's own, and separately the pages of files, which processes share.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine
from importlib.resources import files
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROUNDS = 5
FACT = "My sister lives in Oslo and likes coffee. "
CHUNK = FACT * 28
"""A text of 256 tokens."""
JOBS = {
    "a short text": (1, FACT),
    "32 short texts": (32, FACT),
    "a text of 256 tokens": (1, CHUNK),
    "32 texts of 256 tokens": (32, CHUNK),
}


def main() -> None:
    from apps.workspace.embeddings.built_in import PACKAGE, BuiltInEmbedder

    package = Path(str(files(PACKAGE)))
    size = sum(file.stat().st_size for file in package.rglob("*") if file.is_file())
    print(f"{size / 1e6:.0f} MB on disk are the weights.")
    before = memory()
    own, mapped = before
    print(
        f"Before the first text the process has {own / 1e6:.0f} MB own, {mapped / 1e6:.0f} of files."
    )
    embedder = BuiltInEmbedder()
    with asyncio.Runner() as runner:
        seconds = cpu_seconds(runner.run, lambda: embedder.embed([FACT]))
        report("the first text, which loads the model", seconds, before)
        for name, (count, text) in JOBS.items():
            job = [text] * count
            best = min(
                cpu_seconds(runner.run, lambda job=job: embedder.embed(job))  # type: ignore[misc]
                for _ in range(ROUNDS)
            )
            report(name, best, before)
            if count > 1:
                print(f"{'':<40} {best * 1000 / count:8.1f} ms CPU for each")


def cpu_seconds(
    run: Callable[[Coroutine[Any, Any, object]], object],
    work: Callable[[], Coroutine[Any, Any, object]],
) -> float:
    started = time.process_time()
    run(work())
    return time.process_time() - started


def memory() -> tuple[int, int]:
    """Return the bytes of the process: its own, and the pages of files."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    found = {line.partition(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
    return int(found["RssAnon"]) * 1024, int(found["RssFile"]) * 1024


def report(name: str, seconds: float, before: tuple[int, int]) -> None:
    own, mapped = (now - then for now, then in zip(memory(), before, strict=True))
    grown = f"since the start {own / 1e6:+.0f} MB own, {mapped / 1e6:+.0f} MB of files"
    print(f"{name:<40} {seconds * 1000:8.1f} ms CPU   {grown}")


if __name__ == "__main__":
    main()
