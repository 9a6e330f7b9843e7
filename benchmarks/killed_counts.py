"""A table of the outcomes of runs whose processes were killed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from statistics import median


@dataclass
class Counts:
    """The outcomes of the runs of one database."""

    kills: int = 0
    runs: int = 0
    killed: int = 0
    """Runs that the killed processes were working on."""
    waited: int = 0
    """Runs that were waiting for an approval at a kill."""
    lost: int = 0
    doubled: int = 0
    repeated_finished: int = 0
    repeated_once: int = 0
    shown_differently: int = 0
    late: int = 0
    """Runs that were taken over too late although no other process was killed in the meantime."""
    repeated: int = 0
    """Repeatable calls that were repeated, as intended."""
    unknown: int = 0
    """Calls whose outcome was reported to the model as unknown, as intended."""
    seconds: list[float] = field(default_factory=list)
    """Times from a kill to the takeover. With a single process, from its next start."""
    details: list[str] = field(default_factory=list)

    @property
    def faults(self) -> dict[str, int]:
        names = [
            "lost",
            "doubled",
            "repeated_finished",
            "repeated_once",
            "shown_differently",
            "late",
        ]
        return {name: getattr(self, name) for name in names if getattr(self, name)}

    def fault(self, name: str, detail: object) -> None:
        setattr(self, name, getattr(self, name) + 1)
        self.details.append(f"{name}: {detail}")


def table(found: dict[str, Counts]) -> str:
    lines = [f"| | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for one in fields(Counts):
        if one.type == "int":
            figures = [str(getattr(counts, one.name)) for counts in found.values()]
            lines.append(f"| {one.name.replace('_', ' ')} | {' | '.join(figures)} |")
    spans = [
        f"{median(counts.seconds):.1f} ({max(counts.seconds):.1f})" if counts.seconds else "-"
        for counts in found.values()
    ]
    return "\n".join([*lines, f"| take-over p50 (max), s | {' | '.join(spans)} |"])
