package synonyms

import "encoding/hex"

// Fingerprint changes with the synonyms that are in use for a knowledge base.
func (l *Library) Fingerprint(knowledgeBase string) string {
	sets := *l.sets.Load()
	return sets[knowledgeBase].fingerprint() + "/" + sets[Global].fingerprint()
}

// fingerprint of no set is empty.
func (s *Set) fingerprint() string {
	if s == nil {
		return ""
	}
	return hex.EncodeToString(s.sum[:])
}
