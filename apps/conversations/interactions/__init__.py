"""Users' answers to the questions of waiting runs."""
