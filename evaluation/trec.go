package evaluation

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteRun writes a result as a run file of trec_eval: query, Q0, document, rank, score,
// system. trec_eval ranks by score and breaks ties its own way, so to keep the order the
// score falls by 1 from rank to rank.
func WriteRun(w io.Writer, r *Result) error {
	out := bufio.NewWriter(w)
	system := strings.ReplaceAll(r.System, " ", "_")
	for i := range r.Rows {
		row := &r.Rows[i]
		for rank, id := range row.Ranking {
			// The writer keeps an error and Flush returns it.
			_, _ = fmt.Fprintf(out, "%s Q0 %s %d %d %s\n", row.Query, id, rank+1, len(row.Ranking)-rank, system)
		}
	}
	return out.Flush()
}
