package vector

// lanes is the number of running sums in a dot product.
const lanes = 16

// stretch is about how many elements a kernel reads in one call. Assembly cannot
// be preempted; 256 KiB keep it at about ten microseconds.
const stretch = 64 << 10

// Dots writes the dot product of query with each row to out and returns how many
// it wrote. With query [dim]float32, rows is [n*dim]float32, row after row, and
// out is [n]float32. As copy does, it goes by the shorter side: n is the smaller
// of len(out) and len(rows)/len(query), and 0 for an empty query; what lies beyond
// is left alone. Out must not overlap the others. It allocates nothing and may be
// called concurrently.
func Dots(query, rows, out []float32) int {
	dim := len(query)
	if dim == 0 {
		return 0
	}
	n := min(len(out), len(rows)/dim)
	step := max(1, stretch/dim)
	for from := 0; from < n; from += step {
		to := min(n, from+step)
		dots(query, rows[from*dim:to*dim], out[from:to])
	}
	return n
}

// DotsOf is Dots for rows that stand anywhere, [n][dim]float32: none is shorter
// than the query.
func DotsOf(query []float32, rows [][]float32, out []float32) int {
	n := min(len(out), len(rows))
	dotsOf(query, rows[:n], out[:n])
	return n
}

// Dot is the dot product of a and b, with the same bits as from Dots. Of slices of
// different lengths, only the common beginning counts.
func Dot(a, b []float32) float32 {
	dim := min(len(a), len(b))
	var out [1]float32
	Dots(a[:dim], b[:dim], out[:])
	return out[0]
}
