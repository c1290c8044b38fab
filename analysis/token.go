package analysis

// Token is one token of a text. Start and End are byte offsets and RuneStart and
// RuneEnd rune offsets into the original text (an invalid byte is one rune).
type Token struct {
	Text      string `json:"text"`
	Start     int    `json:"start"`
	End       int    `json:"end"`
	RuneStart int    `json:"rune_start"`
	RuneEnd   int    `json:"rune_end"`
	Position  int    `json:"position"`       // index among the tokens, from 0
	Part      bool   `json:"part,omitempty"` // a part of the longer word that follows
	Stop      bool   `json:"stop,omitempty"` // a stop word: indexed, not searched for
}

// Selector appends the wanted tokens of a text to tokens.
type Selector func(tokens []Token, text string) []Token

// SingleWord returns the word, if the tokens are one word preceded by its parts.
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
