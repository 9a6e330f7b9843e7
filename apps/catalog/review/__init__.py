"""Finds errors and warnings in manifests before they run."""
