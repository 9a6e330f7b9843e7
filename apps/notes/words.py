"""The index of the words in titles and texts, of all workspaces; who searches it names an owner too."""

from django.db.models import Q

from apps.workspace.word_index import WordIndex, is_indexed

INDEX = WordIndex("notes_note_words", "notes_note", ("title", "text"))


def containing(word: str) -> Q:
    """Notes with the word in their title or text, by the index where that can tell."""
    if is_indexed(word):
        return Q(pk__in=INDEX.rows_with(word))
    return Q(title__icontains=word) | Q(text__icontains=word)
