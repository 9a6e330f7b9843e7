"""The compressed size of the files that a visitor's browser loads for the widget."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from quickapps_site.assets import bundles

STATIC = Path(__file__).resolve().parents[3] / "apps/chat/static"
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*"(\.[^"]+)\"""")
CHAT = re.compile(r"""import\("(\./chat-[^"]+)"\)""")
MOST_BYTES = 120_000


def imported(path: Path, found: set[Path]) -> set[Path]:
    """Return the script and all scripts that it imports before it runs."""
    if path not in found:
        found.add(path)
        for name in IMPORT.findall(path.read_text()):
            imported((path.parent / name).resolve(), found)
    return found


def test_an_open_widget_loads_at_most_120_kilobytes_of_scripts_and_styles():
    entries = bundles.read(STATIC).entries
    frame = STATIC / entries["chat/scripts/widget/widget.js"]
    [chat] = CHAT.findall(frame.read_text())
    files = imported(frame, set()) | imported((frame.parent / chat).resolve(), set())
    files |= {STATIC / entries["chat/styles/widget.css"], STATIC / "chat/scripts/widget/loader.js"}

    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in files}

    assert {"lit.js", "marked.js", "dompurify.js", "loader.js"} <= sizes.keys()
    assert sum(sizes.values()) <= MOST_BYTES, sizes
