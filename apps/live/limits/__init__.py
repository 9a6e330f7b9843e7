"""Limits requests, tokens and concurrent runs, and queues runs that exceed a limit."""
