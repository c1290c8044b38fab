package embedded

import "sync"

// bodies are stored chunks that are kept in memory, up to so many bytes. A row's body
// never changes and its number is not used again, so none is ever out of date; those of
// deleted rows are no longer asked for. Where room is wanted, those that were kept first
// are forgotten, but for those that were read since: they count as kept anew.
type bodies struct {
	mu    sync.Mutex
	kept  map[bodyKey]keptBody
	queue []bodyKey // of kept, the oldest first
	bytes int
	most  int
}

// bodyKey is a row of a table.
type bodyKey struct {
	table int64
	row   uint32
}

type keptBody struct {
	text string
	read bool
}

// bodyBytes is as much as some 20,000 chunks have.
const bodyBytes = 32 << 20

// bodyOverhead is about what the map and the queue take for a body.
const bodyOverhead = 64

func (k *keptBody) size() int { return len(k.text) + bodyOverhead }

func newBodies(most int) *bodies {
	return &bodies{kept: map[bodyKey]keptBody{}, most: most}
}

// find gives the bodies of rows, "" where it has none, and whether it has all.
func (b *bodies) find(table int64, rows []uint32) (found []string, all bool) {
	found = make([]string, len(rows))
	all = true
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, row := range rows {
		key := bodyKey{table, row}
		body, known := b.kept[key]
		if known && !body.read {
			body.read = true
			b.kept[key] = body
		}
		found[i] = body.text
		all = all && known
	}
	return found, all
}

// room reports whether many more can be kept without forgetting one.
func (b *bodies) room() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes < b.most/2
}

// keep notes the body of a row that is committed.
func (b *bodies) keep(table int64, row uint32, text string) {
	key, body := bodyKey{table, row}, keptBody{text: text}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.kept[key]; known || body.size() > b.most/64 {
		return
	}
	b.kept[key] = body
	b.queue = append(b.queue, key)
	b.bytes += body.size()
	for b.bytes > b.most {
		b.forget()
	}
}

// forget makes room of the oldest, unless it was read.
func (b *bodies) forget() {
	key := b.queue[0]
	b.queue = b.queue[1:]
	body := b.kept[key]
	if body.read {
		body.read = false
		b.kept[key] = body
		b.queue = append(b.queue, key)
		return
	}
	delete(b.kept, key)
	b.bytes -= body.size()
}
