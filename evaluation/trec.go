package evaluation

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/hybridge-search/hybridge/evaluation/exchange"
	"github.com/hybridge-search/hybridge/fault"
)

// WriteRun writes a result as a run file of trec_eval: query, Q0, document, rank, score,
// system. trec_eval ranks by score and breaks ties its own way, so to keep the order the
// score falls by 1 from rank to rank. An id with a space is fault.InvalidArgument: columns end there.
func WriteRun(w io.Writer, r *Result) error {
	out := bufio.NewWriter(w)
	system := strings.Join(strings.Fields(r.System), "_")
	for i := range r.Rows {
		row := &r.Rows[i]
		for rank, id := range row.Ranking {
			if exchange.HasSpace(row.Query) || exchange.HasSpace(id) {
				return fault.Invalid("query or document", row.Query+", "+id,
					"ids without spaces, which a run of trec_eval cannot hold; --per-query can")
			}
			// The writer keeps an error and Flush returns it.
			_, _ = fmt.Fprintf(out, "%s Q0 %s %d %d %s\n", row.Query, id, rank+1, len(row.Ranking)-rank, system)
		}
	}
	return out.Flush()
}
