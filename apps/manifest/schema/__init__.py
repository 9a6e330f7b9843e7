"""Generates the manifest's JSON schema and reference from the models."""
