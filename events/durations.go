package events

import (
	"maps"
	"math"
	"slices"
)

// durations is a histogram whose classes are 5 percent wide, so that a quantile is right to half of that, and takes
// the memory of a few hundred numbers. The zero value is empty.
type durations struct {
	classes map[int]int
	n       int
}

const (
	classWidth  = 1.05
	least, most = 1e-3, 1e9 // ms that classes tell apart
)

// add counts a time in milliseconds.
func (d *durations) add(ms float64) {
	if d.classes == nil {
		d.classes = map[int]int{}
	}
	class := int(math.Floor(math.Log(min(max(ms, least), most)) / math.Log(classWidth)))
	d.classes[class]++
	d.n++
}

// quantile gives the time that a share of all is at or below; nil of nothing.
func (d *durations) quantile(share float64) *float64 {
	left := int(math.Ceil(share * float64(d.n)))
	for _, class := range slices.Sorted(maps.Keys(d.classes)) {
		if left -= d.classes[class]; left <= 0 {
			middle := math.Pow(classWidth, float64(class)+.5)
			return &middle
		}
	}
	return nil
}
