package exchange

// Compared are the parts of a set as they were read. What is nil is not known, and nothing is said of it.
type Compared struct {
	Corpus    map[string]int // lines of documents, by their ids
	Queries   []Query
	Judgments []Judgment
	// Kept says that they go into a query set of the gateway, which may have more queries, and whose evaluations drop no
	// hits.
	Kept bool

	CorpusFile, QueriesFile, JudgmentsFile string
}

// Check says where the parts do not fit together.
func (r *Report) Check(c *Compared) {
	known := make(map[string]bool, len(c.Queries))
	for i := range c.Queries {
		known[c.Queries[i].ID] = true
	}
	judged, own := map[string]bool{}, map[string]bool{}
	for i := range c.Judgments {
		j := &c.Judgments[i]
		judged[j.QueryID] = true
		own[j.QueryID] = own[j.QueryID] || j.Of() == j.QueryID && j.Grade > 0
		if !c.Kept && !known[j.QueryID] {
			r.Add(c.JudgmentsFile, UnknownQuery, j.Line, "query %s", short(j.QueryID))
			continue
		}
		if _, there := c.Corpus[j.Of()]; c.Corpus != nil && !there {
			r.Add(c.JudgmentsFile, UnknownDocument, j.Line, "document %s of query %s: %d",
				short(j.Of()), short(j.QueryID), j.Grade)
		}
	}
	for i := range c.Queries {
		q := &c.Queries[i]
		if !judged[q.ID] {
			r.Add(c.QueriesFile, UnjudgedQuery, q.Line, "query %s", short(q.ID))
		}
		if line, is := c.Corpus[q.ID]; is && judged[q.ID] {
			kind := OwnDocument
			if own[q.ID] {
				kind = OwnJudged
			}
			r.Add(c.QueriesFile, kind, q.Line, "query %s is in line %d of %s", short(q.ID), line, c.CorpusFile)
		}
	}
	if c.Kept {
		r.Say(OwnDocument, "evaluations of the gateway count that hit; hybridge eval drops it, as BEIR's evaluation does")
	}
}
