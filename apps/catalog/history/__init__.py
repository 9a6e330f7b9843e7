"""Who did what: each change of what operators edit, field by field, and the way back.

actors       on whose behalf something is changed just now
kinds        which rows are recorded, and what of them: never a secret
recording    a change becomes a row, whichever way the row was saved
differences  two documents, as the places where they differ
merging      two edits of one document, as one
restoring    an earlier state becomes the present one
"""
