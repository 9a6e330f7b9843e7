"""A model's answer: streamed, retried, replaced by a fallback and assembled."""
