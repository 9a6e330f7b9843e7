"""The kinds of toolset. Each module is one kind; a new module adds a kind."""
