"""Stores and searches the documents that are attached to applications."""
