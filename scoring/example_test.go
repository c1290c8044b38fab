package scoring_test

import (
	"fmt"

	"github.com/hybridge-search/hybridge/scoring"
)

// Two legs agree on one chunk; the vector leg alone knows another.
func ExampleFusion_Fuse() {
	legs := []scoring.Leg{
		{Name: "text", Kind: scoring.Text, Weight: 0.4},
		{Name: "vector", Kind: scoring.Vector, Weight: 0.6},
	}
	candidates := []scoring.Candidate{
		{ID: "guide", Observations: []scoring.Observation{{Rank: 1, Raw: 11.2}, {Rank: 3, Raw: 0.81}}},
		{ID: "faq", Observations: []scoring.Observation{{Raw: 0}, {Rank: 1, Raw: 0.9}}},
	}
	fusion := scoring.Fusion{Method: scoring.RRF, RRFK: 60}
	for _, chunk := range fusion.Fuse(legs, candidates) {
		fmt.Printf("%s %.4f\n", chunk.ID(), chunk.Score)
		for _, leg := range chunk.Legs() {
			fmt.Printf("  %s adds %.6f\n", leg.Leg, leg.Contribution)
		}
	}
	// Output:
	// guide 0.9810
	//   text adds 0.006557
	//   vector adds 0.009524
	// faq 0.6000
	//   text adds 0.000000
	//   vector adds 0.009836
}
