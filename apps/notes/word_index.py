"""Defines the word index for the titles and texts of notes. Searches must also filter by owner."""

from django.db.models import Q

from apps.workspace.word_index import WordIndex, is_indexed

INDEX = WordIndex("notes_note_words", "notes_note", ("title", "text"))


def containing(word: str) -> Q:
    """Return a condition for notes whose title or text contains the word. Uses the index, except
    for words that an index cannot find.
    """
    if is_indexed(word):
        return Q(pk__in=INDEX.rows_with(word))
    return Q(title__icontains=word) | Q(text__icontains=word)
