"""Finds, masks and reports plain credentials in documents."""
