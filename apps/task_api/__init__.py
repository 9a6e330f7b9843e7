"""The Conversations API, with which programs hold stored conversations."""
