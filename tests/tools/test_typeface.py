"""The typeface that the pages load is what `tools/fonts` built."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

STATIC = Path(__file__).resolve().parents[2] / "apps/chat/static/chat"
MOST_BYTES = 130_000


def test_every_font_has_the_hash_it_was_built_with_and_a_place_in_the_style() -> None:
    built = json.loads((STATIC / "fonts/versions.json").read_text())["files"]
    style = (STATIC / "styles/typeface.css").read_text()

    found = {
        path.name: {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "bytes": path.stat().st_size,
        }
        for path in (STATIC / "fonts").glob("*.woff2")
    }

    assert found == built
    assert sorted(re.findall(r"/([\w-]+\.woff2)", style)) == sorted(built)
    assert sum(entry["bytes"] for entry in built.values()) <= MOST_BYTES


def test_every_variable_that_a_style_uses_is_defined() -> None:
    """A misspelt token would leave a page without a color, and nothing would report it."""
    root = STATIC.parents[3]
    styles = [path for path in root.glob("apps/*/static/**/*.css") if not is_made(path)]
    texts = {path: path.read_text() for path in styles}
    scripts = [path for path in root.glob("apps/*/static/**/*.js") if not is_made(path)]
    everything = "\n".join([*texts.values(), *(path.read_text() for path in scripts)])
    defined = set(re.findall(r"(--[\w-]+)[\"']?[:,]", everything)) | set(of_the_theme())

    missing = {
        f"{path.relative_to(root)}: {name}"
        for path, text in texts.items()
        for name in re.findall(r"var\((--[\w-]+)\)", text)
        if name not in defined
    }

    assert missing == set()


def is_made(path: Path) -> bool:
    return not {"vendor", "bundles"}.isdisjoint(path.parts)


def of_the_theme() -> list[str]:
    """Return the names of the color scales that the admin's theme defines."""
    weights = (50, *range(100, 1000, 100), 950)
    return [f"--color-{name}-{weight}" for name in ("base", "primary") for weight in weights]
