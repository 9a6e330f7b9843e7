"""The admin pages for everything that starts runs automatically, and for its notifications."""
