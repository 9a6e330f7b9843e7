"""Health checks, gauges, the sweeper and the shutdown of a process that executes runs."""
