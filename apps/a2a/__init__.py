"""Serves applications as agents, through version 1.0 of the A2A protocol."""
