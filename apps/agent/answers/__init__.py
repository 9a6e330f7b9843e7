"""Requests a model's answer, with retries and fallbacks, and assembles it from the stream."""
