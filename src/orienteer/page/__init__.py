"""What pages are made of, whatever they show: templates, pictures, and how figures are written."""
