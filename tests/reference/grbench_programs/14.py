# How many compounds resemble one.
query = "MATCH (c:Compound {name: $name})-[:COMPOUND_RESEMBLES_COMPOUND]->(o) RETURN count(DISTINCT o) AS number"
print(cypher(query, {"name": compound})[0]["number"])
