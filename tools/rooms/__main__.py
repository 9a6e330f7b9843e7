"""Write the picture of the rooms into the README: `python -m tools.rooms`."""

from tools.rooms.picture import README, with_picture

README.write_text(with_picture(README.read_text(encoding="utf-8")), encoding="utf-8")
