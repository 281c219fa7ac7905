# The disease of an anatomy that a compound palliates.
query = """
MATCH (c:Compound {name: $compound})-[:COMPOUND_PALLIATES_DISEASE]->(d:Disease)
MATCH (d)-[:DISEASE_LOCALIZES_ANATOMY]->(:Anatomy {name: $anatomy})
RETURN DISTINCT d.name AS name
"""
for row in cypher(query, {"compound": compound, "anatomy": anatomy}):
    print(row["name"])
