"""The door for programs: the Conversations API."""
