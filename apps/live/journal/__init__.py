"""The journal of runs: commits in batches, followed by notifications."""
