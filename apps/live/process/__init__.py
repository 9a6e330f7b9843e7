"""The process that executes runs: its health, gauges, sweeper and shutdown."""
