"""Creates and changes API keys."""
