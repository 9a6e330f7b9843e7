"""Text files, of a bearable size and in the one encoding."""

from __future__ import annotations

from pathlib import Path

LARGEST_FILE = 2 * 1024 * 1024
"""Bytes. The largest manifests in use have some 100,000."""


def read_text(path: Path) -> str:
    """Raises `OSError`, and `ValueError` for what is no text of a bearable size."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ValueError(f"the file has {size:,} bytes; at most {LARGEST_FILE:,} are possible.")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"Line {line}: not UTF-8; save the file in this encoding.") from error
