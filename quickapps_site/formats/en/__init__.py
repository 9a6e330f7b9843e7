"""English dates that are read the same on both sides of the ocean."""
