"""Limits the rates and the number of concurrent runs, and queues runs that exceed the limits."""
