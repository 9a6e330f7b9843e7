"""The recorded steps of a run, and their replay when the run is resumed."""
