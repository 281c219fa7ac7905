"""Questions with gold for reading: what people ask of four graphs, worded before the code that reads them existed."""
