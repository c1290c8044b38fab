package clicks

// Counts counts the actions of users on a hit of a question.
type Counts struct {
	Examined int // searches with the hit at or above the last click
	Clicked  int // of them, those with a click on it
	Last     int // of them, those whose last click it was
}

// Attractiveness is the share of users who click on the hit once they have read it.
func (c Counts) Attractiveness() float64 { return ratio(c.Clicked, c.Examined) }

// Satisfaction is the share of users who look no further once they have clicked on the hit.
func (c Counts) Satisfaction() float64 { return ratio(c.Last, c.Clicked) }

// Relevance is the share of readers whom the hit satisfies, in [0, 1].
func (c Counts) Relevance() float64 { return c.Attractiveness() * c.Satisfaction() }

func ratio(of, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(of) / float64(all)
}

// Model is the simplified dynamic Bayesian network of clicks (Chapelle, Zhang, "A Dynamic Bayesian Network Click Model
// for Web Search Ranking", WWW 2009): users read an answer from the top, click on what attracts them, and stop when a
// hit has satisfied them. What is below the last click is taken for unread, so that a hit is not worse for standing
// low; a search without clicks tells nothing. Its estimates are counts, in closed form.
//
// Add must not be called at the same time as anything else.
type Model struct {
	questions map[string]map[string]*Counts
}

// Add counts one search: the hits that were shown for a question, and the places, from 0, of those that were clicked.
// Places that were not shown count for nothing.
func (m *Model) Add(question string, hits []string, clicked []int) {
	last := -1
	at := make(map[int]bool, len(clicked))
	for _, place := range clicked {
		if place >= 0 && place < len(hits) {
			at[place] = true
			last = max(last, place)
		}
	}
	if last < 0 {
		return
	}
	if m.questions == nil {
		m.questions = map[string]map[string]*Counts{}
	}
	of := m.questions[question]
	if of == nil {
		of = map[string]*Counts{}
		m.questions[question] = of
	}
	for place, hit := range hits[:last+1] {
		c := of[hit]
		if c == nil {
			c = &Counts{}
			of[hit] = c
		}
		c.Examined++
		if at[place] {
			c.Clicked++
		}
		if place == last {
			c.Last++
		}
	}
}

// Of gives the counts of a question's hits; nobody changes them.
func (m *Model) Of(question string) map[string]*Counts { return m.questions[question] }
