"""The WebSocket of the chat page."""
