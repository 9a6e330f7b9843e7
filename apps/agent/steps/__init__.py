"""The recorded steps of a run, and their replay after an interruption."""
