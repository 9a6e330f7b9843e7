"""Make the font with which the admin's theme draws the icons of the pages: `python icons.py` in the
environment of `build.py`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pathops
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import SVGPath

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules" / "lucide-static"
OUT = HERE.parents[1] / "apps/console/static/console"
GRID = 24
"""The width and height of a drawing."""
SCALE = 40
"""Font units per unit of a drawing."""
STROKE = 1.75
"""The width of lines, as in `elements.css`."""
EM = GRID * SCALE
MENU = (
    *("activity", "chart-column", "circle-alert", "clock", "code", "cpu", "folder", "house"),
    *("key-round", "layers", "layout-grid", "lock", "megaphone", "message-circle", "plug"),
    *("refresh-cw", "scroll-text", "shield", "thumbs-up", "user", "users", "wallet", "webhook"),
)
"""The icons of menu items."""
THEME = {
    "add": "plus",
    "apps": "layout-grid",
    "arrow_back": "arrow-left",
    "arrow_circle_down": "arrow-down",
    "arrow_circle_up": "arrow-up",
    "arrow_downward": "arrow-down",
    "arrow_forward": "arrow-right",
    "arrow_upward": "arrow-up",
    "cancel": "x",
    "check_small": "check",
    "chevron_right": "chevron-right",
    "close": "x",
    "close_small": "x",
    "computer": "monitor",
    "dark_mode": "moon",
    "delete": "trash-2",
    "dock_to_right": "panel-left",
    "download": "download",
    "drag_indicator": "grip-vertical",
    "edit": "pencil",
    "edit_square": "square-pen",
    "expand_more": "chevron-down",
    "favorite": "pin",
    "file_upload": "upload",
    "filter_list": "sliders-horizontal",
    "filter_list_off": "x",
    "help": "circle-question-mark",
    "history": "history",
    "inbox": "inbox",
    "light_mode": "sun",
    "logout": "log-out",
    "manage_search": "search",
    "more_horiz": "ellipsis",
    "more_vert": "ellipsis-vertical",
    "open_in_new": "external-link",
    "progress_activity": "loader-circle",
    "question_mark": "minus",
    "refresh": "refresh-cw",
    "search": "search",
    "settings": "settings",
    "undo": "undo-2",
    "unfold_more": "chevrons-up-down",
    "upload": "upload",
    "visibility": "eye",
    "visibility_off": "eye-off",
}
"""The icon for each name in the theme's templates."""


def main() -> None:
    names = {**{name: name for name in MENU}, **THEME}
    icons = sorted(set(names.values()))
    letters = sorted(set("".join(names)))
    order = [".notdef", *map(letter, letters), *map(glyph, icons)]
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(order)
    font.setupCharacterMap({ord(one): letter(one) for one in letters})
    blank = TTGlyphPen(None).glyph()
    font.setupGlyf(dict.fromkeys(order, blank) | {glyph(icon): drawn(icon) for icon in icons})
    drawings = {*map(glyph, icons)}
    outlines = font.font["glyf"]
    font.setupHorizontalMetrics(
        # A drawing starts at its first line, so that it stays in the middle of its square.
        {one: (EM, outlines[one].xMin) if one in drawings else (0, 0) for one in order}
    )
    font.setupHorizontalHeader(ascent=EM, descent=0)
    font.setupOS2(sTypoAscender=EM, sTypoDescender=0, usWinAscent=EM, usWinDescent=0)
    font.setupNameTable({"familyName": "QuickApps Icons", "styleName": "Regular"})
    font.setupPost()
    rules = "".join(
        f"sub {' '.join(map(letter, name))} by {glyph(icon)};\n" for name, icon in names.items()
    )
    addOpenTypeFeaturesFromString(font.font, f"feature liga {{\n{rules}}} liga;")
    font.font["head"].created = font.font["head"].modified = 0
    font.font.recalcTimestamp = False
    font.font.flavor = "woff2"
    font.save(OUT / "icons.woff2")
    write_facts(names)


def letter(one: str) -> str:
    return f"u{ord(one):04X}"


def glyph(icon: str) -> str:
    return f"icon.{icon}"


def drawn(icon: str) -> object:
    """Return the outline of a drawing's lines."""
    outline = pathops.Path()
    source = (PACKAGE / "icons" / f"{icon}.svg").read_bytes()
    SVGPath.fromstring(source, (SCALE, 0, 0, -SCALE, 0, EM)).draw(outline.getPen())
    width = STROKE * SCALE
    outline.stroke(width, pathops.LineCap.ROUND_CAP, pathops.LineJoin.ROUND_JOIN, width)
    outline.convertConicsToQuads()
    outline.simplify(fix_winding=True)
    pen = TTGlyphPen(None)
    outline.draw(Cu2QuPen(pen, max_err=1, reverse_direction=True))
    return pen.glyph()


def write_facts(names: dict[str, str]) -> None:
    version = json.loads((PACKAGE / "package.json").read_text())["version"]
    content = (OUT / "icons.woff2").read_bytes()
    facts = {
        "package": "lucide-static",
        "version": version,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "names": sorted(names),
    }
    (OUT / "icons.json").write_text(f"{json.dumps(facts, indent=2)}\n")


main()
