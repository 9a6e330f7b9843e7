"""The pages on which users see their teams, change their members and leave them."""
