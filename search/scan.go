package search

// ScanJSON reads the members that most requests have, and the vector above all, from a
// JSON object, many times as fast as a decoder of any type. It gives the others as an
// object for such a decoder, nil when there are none. Not ok, all of the text is for
// that decoder: it knows better what is wrong with it, if anything.
func (r *Request) ScanJSON(text []byte) (rest []byte, ok bool) {
	s := requestScanner{jsonScanner: jsonScanner{text: text}, into: r}
	if !s.object() {
		*r = Request{}
		return nil, false
	}
	if s.rest != nil {
		s.rest = append(s.rest, '}')
	}
	return s.rest, true
}

type requestScanner struct {
	jsonScanner
	into *Request
	seen uint // a bit for each member that was there
	rest []byte
}

func (s *requestScanner) object() bool {
	if !s.next('{') {
		return false
	}
	for first := true; !s.next('}'); first = false {
		if !first && !s.next(',') || !s.member() {
			return false
		}
	}
	return s.ended()
}

// member reads a member, or leaves it to the rest.
func (s *requestScanner) member() bool {
	s.space()
	begin := s.at
	name, ok := s.plain()
	if !ok || !s.next(':') {
		return false
	}
	s.space()
	value := s.at
	bit, read := s.known(string(name))
	if s.seen&bit != 0 {
		return false
	}
	s.seen |= bit
	if read {
		return true
	}
	s.at = value
	if !s.skip() {
		return false
	}
	separator := byte(',')
	if s.rest == nil {
		separator = '{'
	}
	s.rest = append(append(s.rest, separator), s.text[begin:s.at]...)
	return true
}

// known reads the value of a member that it knows, if it is what is usual there, and
// gives the member's bit. It may leave in the request what such a value begins with:
// the decoder of the rest overwrites it.
func (s *requestScanner) known(name string) (bit uint, read bool) {
	r := s.into
	switch name {
	case "query":
		return 1 << 0, s.string(&r.Query)
	case "plain":
		return 1 << 1, s.bool(&r.Plain)
	case "knowledge_bases":
		return 1 << 2, s.strings(&r.KnowledgeBases)
	case "preset":
		return 1 << 3, s.string(&r.Preset)
	case "top_k":
		return 1 << 4, s.size(&r.TopK)
	case "candidates":
		return 1 << 5, s.size(&r.Candidates)
	case "limit":
		return 1 << 6, s.size(&r.Limit)
	case "vector":
		return 1 << 7, s.vector(&r.Vector)
	}
	return 0, false
}
