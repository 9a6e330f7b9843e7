"""Contains the kinds of toolset, one per module. A new module adds a kind."""
