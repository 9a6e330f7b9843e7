"""Stores and runs jobs with Procrastinate, for PostgreSQL. Any number of processes can run them."""
