package histories

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// toldOperations is how many operations of a wrong chunk are told, the last ones.
const toldOperations = 40

func (h *History) title() string { return fmt.Sprintf("%s, seed %d: ", h.Name, h.Plan.Seed) }

// told is the history of a wrong chunk in the order in which its operations began, up to the answer that cannot be.
func (h *History) told(chunk int, operations []porcupine.Operation) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%schunk %s cannot have answered so, whichever order its operations had:\n",
		h.title(), ChunkID(chunk))
	operations = slices.Clone(operations)
	slices.SortStableFunc(operations, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	if left := len(operations) - toldOperations; left > 0 {
		fmt.Fprintf(&text, "  … %d before\n", left)
		operations = operations[left:]
	}
	for _, o := range operations {
		fmt.Fprintf(&text, "  %s to %-10s client %d  %s\n", moment(o.Call), moment(o.Return), o.ClientId,
			model.DescribeOperation(o.Input, o.Output))
	}
	return text.String()
}

func moment(nanoseconds int64) string {
	if nanoseconds == never {
		return "no answer"
	}
	return fmt.Sprintf("%.2f ms", float64(nanoseconds)/float64(time.Millisecond))
}

// Draw writes a page that shows the operations of the chunk in time, and gives its name.
func (v *Violation) Draw(folder string) (string, error) {
	_, info := porcupine.CheckOperationsVerbose(model, v.operations, checkTime)
	name := filepath.Join(folder, ChunkID(v.Chunk)+".html")
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	err = porcupine.Visualize(model, info, file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return name, err
}

// String has all operations with what was told of them, in the order in which they ended.
func (h *History) String() string {
	var text strings.Builder
	for i := range h.events {
		e := &h.events[i]
		fmt.Fprintf(&text, "client %d  %s: %s, %d\n", e.process, e.op, e.outcome.Verdict, e.outcome.Count)
	}
	return text.String()
}
