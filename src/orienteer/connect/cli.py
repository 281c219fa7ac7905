"""The commands of the annex `connect`."""

COMMANDS = {
    "orienteer.connect.push": {
        "push": ("Upload a graph to a bucket, where any command and server can read it; send only what is new."),
    },
}
