"""The page on which users see and change their memories."""
