"""Write content for a test into its own directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from apps.catalog.content.layers import Content, read_layers


def write(directory: Path, **files: Any) -> Path:
    """Write `tool/shop.json` for `tool__shop={…}`. Text becomes Markdown, and bytes are written
    unchanged."""
    for name, value in files.items():
        kind, _, stem = name.partition("__")
        suffix = ".md" if kind == "prompt" else ".json"
        path = directory / kind / f"{stem}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(value, bytes):
            path.write_bytes(value)
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            path.write_text(text, encoding="utf-8")
    directory.mkdir(exist_ok=True)
    return directory


def content(directory: Path, **files: Any) -> Content:
    return read_layers([write(directory, **files)])
