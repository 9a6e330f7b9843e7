"""Stores and finds deployments in our own database, with their providers, personal keys, fallbacks
and circuit breakers.
"""
