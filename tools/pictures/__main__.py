"""Take the pictures of the docs again: `python -m tools.pictures`."""

from __future__ import annotations

from pathlib import Path

from tools.pictures.album import take_all

take_all(Path(__file__).parents[2] / "docs" / "images")
