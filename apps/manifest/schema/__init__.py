"""Generates the JSON schema and the reference of the manifest from the models."""
