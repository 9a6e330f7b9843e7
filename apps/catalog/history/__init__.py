"""The history of what operators edit: each change, field by field, and the way back.

actors       the person, key or command that changes something just now
kinds        which rows are recorded, and what of them: never a secret
recorder     a change becomes a row, whichever way the row was saved
differences  two documents, as the places where they differ
merge        two edits of one document, merged
conflicts    an edit and what others changed in the meantime
restoration  an earlier state becomes the present one
"""
