"""Generates the JSON Schema and the reference of the manifest from the models."""
