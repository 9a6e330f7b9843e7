"""The pages on which users see and manage their teams."""
