"""The commands of the annex `connect`."""

COMMANDS = {
    "orienteer.connect.push": {
        "push": (
            "Put a graph in a bucket, where any command and any server reads it: what is there already is not sent."
        ),
    },
}
