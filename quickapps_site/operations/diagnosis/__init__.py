"""Writes a report about this installation for troubleshooting, without secrets or conversations."""
