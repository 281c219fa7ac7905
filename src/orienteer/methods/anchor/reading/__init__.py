"""A question read exactly: words to a typed query over the schema, executed over the arrays, and put in words."""
