package histories

import (
	"fmt"
	"math/rand/v2"
)

// Plan is a random history: the same seed gives each client the same operations.
type Plan struct {
	Seed      uint64
	Clients   int // at most Members - 1
	Documents int
	Own       int // chunks that only one document has, for each
	Shared    int // chunks of which every document may have one
}

// Usual is the plan of a seed whose chunks are few enough to be changed by several clients all the time.
func Usual(seed uint64) Plan { return Plan{Seed: seed, Clients: 4, Documents: 3, Own: 8, Shared: 3} }

// Chunks is how many chunks there may be.
func (p *Plan) Chunks() int { return p.Documents*p.Own + p.Shared }

// ChunksOf are the chunks that a document may have.
func (p *Plan) ChunksOf(document int) []int {
	all := make([]int, 0, p.Own+p.Shared)
	for i := range p.Own {
		all = append(all, document*p.Own+i)
	}
	for i := range p.Shared {
		all = append(all, p.Documents*p.Own+i)
	}
	return all
}

// source gives the operations of one client, one after the other.
type source struct {
	plan   *Plan
	client int
	random *rand.Rand
	given  int
}

func (p *Plan) source(client int) *source {
	return &source{plan: p, client: client, random: rand.New(rand.NewPCG(p.Seed, uint64(client)))}
}

// weights say how often each kind is given.
var weights = []struct {
	kind  Kind
	share int
}{{Write, 30}, {Patch, 28}, {Read, 16}, {Replace, 7}, {RemoveOld, 8}, {RemoveOne, 7}, {Remove, 4}}

func (s *source) next() *Op {
	s.given++
	op := &Op{
		Kind: s.kind(), Document: s.random.IntN(s.plan.Documents), Status: Old, Member: Members - 1,
		Value: fmt.Sprintf("v%dx%d", s.client, s.given),
	}
	if s.random.IntN(2) == 0 {
		op.Status = New
	}
	switch op.Kind {
	case Write, Replace:
		op.Chunks = s.some(op.Document, 1+s.random.IntN(6))
	case RemoveOne, Read:
		op.Chunks = s.some(op.Document, 1)
	case Patch:
		if s.random.IntN(2) == 0 {
			op.Member = s.client
		}
		if s.random.IntN(8) == 0 {
			op.Value = ""
		}
	case Remove, RemoveOld:
	}
	return op
}

func (s *source) kind() Kind {
	total := 0
	for _, w := range weights {
		total += w.share
	}
	at := s.random.IntN(total)
	for _, w := range weights {
		if at -= w.share; at < 0 {
			return w.kind
		}
	}
	return Read
}

// some are chunks of a document.
func (s *source) some(document, n int) []int {
	all := s.plan.ChunksOf(document)
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}
