"""`documents`: passages for a question, the sentence that answers it quoted, or the word that nothing here does."""
