package esquery

// ReadOnlyWayOut says how to lift the block that Elasticsearch sets on a full disk.
const ReadOnlyWayOut = "free disk space (or raise the flood-stage watermark); Elasticsearch lifts the block by " +
	"itself, or " + `PUT INDEX/_settings {"index.blocks.read_only_allow_delete": null}`
