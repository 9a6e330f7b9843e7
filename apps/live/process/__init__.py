"""Implements the health checks, sweeps and shutdown of a process that executes runs."""
