"""Checks, sweeps and shuts down a process that executes runs."""
