"""Deployments in our own database, with their providers, personal keys, fallbacks and circuit breakers."""
