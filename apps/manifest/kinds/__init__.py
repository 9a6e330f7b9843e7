"""The kinds of toolset. Each module defines one kind, so a new module adds a kind."""
