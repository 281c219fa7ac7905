"""Questions with gold for reading: what people ask of six graphs, worded before the code that reads them existed."""
