# Anatomy that downregulates a gene; the question turns it round.
query = """
MATCH (g:Gene:biomedical {name: $name})-[:ANATOMY_DOWNREGULATES_GENE]->(a:Anatomy)
RETURN a.name AS name
"""
for row in cypher(query, params={"name": gene}):
    print(row["name"])
