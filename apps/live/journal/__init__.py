"""The journal of runs, which is committed in batches, followed by notifications."""
