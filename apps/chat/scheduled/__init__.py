"""The page "Scheduled", on which users manage their schedules."""
