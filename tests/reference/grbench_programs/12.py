# The disease of an anatomy that upregulates a gene.
diseases = cypher(
    "MATCH (g:Gene:biomedical {name: $name})-[:DISEASE_UPREGULATES_GENE]->(d:Disease) RETURN d.id AS id", {"name": gene}
)
rows = cypher(
    "MATCH (d:Disease)-[:DISEASE_LOCALIZES_ANATOMY]->(:Anatomy {name: $name}) WHERE d.id IN $ids RETURN d.name AS name",
    {"name": anatomy, "ids": [row["id"] for row in diseases]},
)
for row in rows:
    print(row["name"])
