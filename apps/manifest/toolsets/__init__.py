"""Defines the toolsets and tools that a manifest can declare."""
