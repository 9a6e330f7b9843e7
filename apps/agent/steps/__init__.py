"""Records the steps of a run, and replays them when the run is resumed."""
