"""Stores encrypted secrets and the servers that may receive them."""
