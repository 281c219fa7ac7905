# How many diseases resemble one.
query = "MATCH (d:Disease {name: $name})-[:DISEASE_RESEMBLES_DISEASE]->(o:Disease) RETURN DISTINCT o.id AS id"
print(len(cypher(query, {"name": disease})))
