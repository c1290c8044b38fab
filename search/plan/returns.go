package plan

import (
	"github.com/hybridge-search/hybridge/fault"
)

// The values of Request.Return.
const (
	ReturnChunk  = "chunk"
	ReturnParent = "parent"
)

// maxParents bounds the hits of an answer that have sections.
const maxParents = 100

// ValidateParents checks the size of the answer against the cost of sections.
func (p *Plan) ValidateParents() error {
	if p.Return == ReturnParent && p.TopK > maxParents {
		return fault.Invalid("top_k", p.TopK, "1 to 100 with return: parent")
	}
	return nil
}

func validateReturn(v string) error {
	if v != "" && v != ReturnChunk && v != ReturnParent {
		return fault.Invalid("return", v, "chunk or parent")
	}
	return nil
}
