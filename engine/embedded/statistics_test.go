package embedded

import "testing"

// TestSample: vectors of all rows have the same chance to be in it, whenever they were
// written.
func TestSample(t *testing.T) {
	s := newSnapshot([]int{2})
	for row := range uint32(4 * sampleSize) {
		unit := []float32{1, 0}
		if row >= 2*sampleSize {
			unit = []float32{0, 1}
		}
		s.take(&entry{row: row, vectors: [][]float32{unit}})
	}
	sample, early := s.sample(0), 0
	for i := 0; i < len(sample.vectors); i += 2 {
		early += int(sample.vectors[i])
	}
	if len(sample.vectors) != 2*sampleSize || early < sampleSize*4/10 || early > sampleSize*6/10 {
		t.Errorf("%d of %d are of the first half", early, len(sample.vectors)/2)
	}
}
