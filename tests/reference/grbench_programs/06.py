# Anatomy that upregulates a gene; the question turns it round.
query = """
MATCH (a:Anatomy)-[r]->(g:Gene:biomedical)
WHERE g.name = $name AND type(r) = 'ANATOMY_UPREGULATES_GENE'
RETURN a.name AS name
"""
for row in cypher(query, params={"name": gene}):
    print(row["name"])
