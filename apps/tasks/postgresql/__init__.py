"""Stores jobs in the tables of Procrastinate, for PostgreSQL. Any number of processes can run the
jobs.
"""
