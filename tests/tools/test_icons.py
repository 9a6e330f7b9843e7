"""The admin's theme draws all its icons with the font that `tools/fonts/icons.py` makes."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import unfold

from apps.console.menu import declared_pages

CONSOLE = Path(__file__).resolve().parents[2] / "apps/console/static/console"
TEMPLATES = Path(unfold.__file__).parent / "templates"
ICON = re.compile(r"""material-symbols-outlined[^>]*>\s*([a-z_]+)\s*<|icon=["']([a-z_]+)["']""")


def test_the_font_is_what_was_built_and_has_every_icon_of_the_theme_and_of_the_menu() -> None:
    facts = json.loads((CONSOLE / "icons.json").read_text())
    content = (CONSOLE / "icons.woff2").read_bytes()
    drawn = {
        found[1] or found[2]
        for path in TEMPLATES.rglob("*.html")
        for found in ICON.finditer(path.read_text())
    }
    menu = {page.icon for page in declared_pages() if not page.below}

    assert hashlib.sha256(content).hexdigest() == facts["sha256"]
    assert drawn | menu <= {*facts["names"]}


def test_only_menu_items_have_icons() -> None:
    assert {page.icon for page in declared_pages() if page.below} == {""}
