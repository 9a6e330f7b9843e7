"""Exports of conversations as files."""
