package live

import "time"

// maxMarks is at how many times before its end a report looks back.
const maxMarks = 60

// steps are how far apart these may be: what people count time by.
var steps = []time.Duration{
	time.Minute, 5 * time.Minute, 15 * time.Minute,
	time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// marks are the times before an end at which the history is looked at, the nearest first: equally far apart, by the
// shortest step that makes few of them. Without a history there are none.
func (c *count) marks(end time.Time) []time.Time {
	if c.history == nil {
		return nil
	}
	span := end.Sub(c.until)
	step := steps[0]
	for i := 1; span > maxMarks*step; i++ {
		if i < len(steps) {
			step = steps[i]
		} else {
			step *= 2 // days
		}
	}
	var all []time.Time
	for at := c.until.Add(step); at.Before(end); at = at.Add(step) {
		all = append(all, at)
	}
	return all
}

// pass looks at the history at all marks until a time, and gives those behind it.
func (c *count) pass(marks []time.Time, until time.Time) []time.Time {
	for len(marks) > 0 && !until.Before(marks[0]) {
		c.history.Look(marks[0])
		marks = marks[1:]
	}
	return marks
}
