"""A graph of tables follows its sources: only files and rows that changed are read into it anew."""
