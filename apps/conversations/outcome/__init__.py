"""Stores the data of an answer in addition to its text, and notices about the answer."""
