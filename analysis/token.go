package analysis

// Token is one emitted token. Start and End are byte offsets, RuneStart and
// RuneEnd rune offsets, into the original text (an invalid byte is one rune).
type Token struct {
	Text      string `json:"text"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	RuneStart int    `json:"rune_start"`
	RuneEnd   int    `json:"rune_end"`
	Position  int    `json:"position"`       // ordinal of the emitted tokens, from 0
	Part      bool   `json:"part,omitempty"` // a part of the longer word that follows
	Stop      bool   `json:"stop,omitempty"` // a stop word: indexed, not asked for
}

// Selector appends to tokens those of a text that are wanted.
type Selector func(tokens []Token, text string) []Token

// SingleWord gives the term of tokens that are one word and its parts.
func SingleWord(tokens []Token) (string, bool) {
	if len(tokens) == 0 {
		return "", false
	}
	for _, t := range tokens[:len(tokens)-1] {
		if !t.Part {
			return "", false
		}
	}
	return tokens[len(tokens)-1].Text, true
}
