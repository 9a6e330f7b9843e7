"""README's picture of the rooms, written from the contract of imports."""
