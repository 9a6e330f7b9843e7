"""Sends notifications about ended and waiting runs: events to subscribers, and email to users."""
