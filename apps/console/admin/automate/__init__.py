"""The admin of everything that starts runs automatically, and of its notifications."""
