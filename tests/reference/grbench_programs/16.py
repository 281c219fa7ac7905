# How many compounds treat a disease.
query = "MATCH (d:Disease {name: $name})<-[:COMPOUND_TREATS_DISEASE]-(c) RETURN collect(DISTINCT c.id) AS compounds"
[row] = cypher(query, {"name": disease})
print(len(row["compounds"]))
