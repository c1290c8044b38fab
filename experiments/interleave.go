package experiments

import (
	"math/rand/v2"
	"slices"
)

// Team is which ranking a hit of an interleaved list counts for.
type Team int8

// The teams.
const (
	NoTeam Team = 0
	TeamA  Team = 1 // of the first variant
	TeamB  Team = 2
)

// Pick is a hit of an interleaved list.
type Pick struct {
	ID   string `json:"id"`
	Team Team   `json:"team"`
}

// TeamDraft makes one list of two rankings, best first, by team-draft interleaving (Radlinski, Kurup, Joachims, "How
// does clickthrough data reflect retrieval quality?", CIKM 2008, algorithm 2): in each round both rankings give their
// best hit that is not in the list yet, and a coin says which of them is first.
//
// The same rankings and seed give the same list, and its first n hits depend on the first n of each ranking alone, so
// pages are parts of one list. When one ranking has no hit left, the rest of the other one follows without a team: the
// paper ends the list there, as clicks on what only one side could give would be no preference. An id that is in both
// is there once, for the team that picked it.
//
// Hits that both rankings begin with are not drafted, which the paper does: only coins would say whose they are, and
// clicks on them would be noise. Where rankings are often the same, that noise is most of what there is.
func TeamDraft(a, b []string, seed uint64) []Pick {
	list := make([]Pick, 0, len(a)+len(b))
	taken := make(map[string]struct{}, len(a)+len(b))
	both := 0
	for both < len(a) && both < len(b) && a[both] == b[both] {
		both++
	}
	list = withRest(list, a[:both], taken)
	rankings, teams := [2][]string{a[both:], b[both:]}, [2]Team{TeamA, TeamB}
	coins := rand.NewPCG(seed, 0)
	for {
		first := int(coins.Uint64() >> 63)
		for _, side := range [2]int{first, 1 - first} {
			rankings[0], rankings[1] = untaken(rankings[0], taken), untaken(rankings[1], taken)
			if len(rankings[0]) == 0 || len(rankings[1]) == 0 {
				return withRest(withRest(list, rankings[0], taken), rankings[1], taken)
			}
			id := rankings[side][0]
			taken[id] = struct{}{}
			list = append(list, Pick{ID: id, Team: teams[side]})
		}
	}
}

// untaken leaves out the hits in front that are in the list.
func untaken(ranking []string, taken map[string]struct{}) []string {
	for len(ranking) > 0 {
		if _, in := taken[ranking[0]]; !in {
			break
		}
		ranking = ranking[1:]
	}
	return ranking
}

// withRest adds hits without a team.
func withRest(list []Pick, ranking []string, taken map[string]struct{}) []Pick {
	for _, id := range ranking {
		if _, in := taken[id]; !in {
			taken[id] = struct{}{}
			list = append(list, Pick{ID: id})
		}
	}
	return list
}

// Credit counts the hits of each team that were clicked, by their ranks from 1: a hit once, however often it was
// clicked, and ranks that the list does not have never. More of one team than of the other is a preference for its
// ranking in this search (Chapelle, Joachims, Radlinski, Yue, "Large-scale validation and analysis of interleaved
// search evaluation", TOIS 2012).
func Credit(teams []Team, clicks []int) (a, b int) {
	for i, rank := range clicks {
		if rank < 1 || rank > len(teams) || slices.Contains(clicks[:i], rank) {
			continue
		}
		switch teams[rank-1] {
		case TeamA:
			a++
		case TeamB:
			b++
		case NoTeam:
		}
	}
	return a, b
}
