"""Questions with gold for reading: what people ask of eleven graphs. README.md says what stands where."""
