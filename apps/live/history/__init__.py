"""Records of runs that remain after the runs: their summaries, and their requests to models."""
