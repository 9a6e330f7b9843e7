"""How dates and numbers are written, where Django's own forms are not wanted."""
