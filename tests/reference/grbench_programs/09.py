# The disease of an anatomy that a compound treats.
query = """
MATCH (a:Anatomy {name: $anatomy})-[:DISEASE_LOCALIZES_ANATOMY]->(d:Disease)
WHERE EXISTS { MATCH (d)<-[:COMPOUND_TREATS_DISEASE]-(c:Compound) WHERE c.name = $compound }
RETURN d.name AS name
"""
for row in cypher(query, {"compound": compound, "anatomy": anatomy}):
    print(row["name"])
