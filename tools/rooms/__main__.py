"""Write the picture of the rooms into docs/architecture.md: `python -m tools.rooms`."""

from tools.rooms.picture import PAGE, with_picture

PAGE.write_text(with_picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
