"""Stores files: their paths, content, downloads and quotas."""
