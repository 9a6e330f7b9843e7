"""API keys: their holders, owners and changes."""
