"""Data about runs after they end: their summaries, and the requests sent to models."""
