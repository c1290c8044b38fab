package vector

// Covariance tells the moments of the dot products between any vector and the rows of a
// sample, as all of these would: q·mean, and qᵀCq with the rows' covariance matrix C. For
// many rows it is smaller than the rows, and memory access dominates the time. It is safe
// for concurrent use.
type Covariance struct {
	mean []float32 // [dim]
	// half is the lower triangle of C, what is below the diagonal doubled, in blocks of
	// sixteen rows: those of a block are as long as the last of them.
	half []float32
}

const blockRows = 16

// NewCovariance computes the covariance of rows, [n*dim]float32, over n. There is at least
// one row; dim is not 0.
func NewCovariance(rows []float32, dim int) *Covariance {
	n := len(rows) / dim
	c := &Covariance{mean: make([]float32, dim), half: make([]float32, 0, (dim+blockRows)*dim/2)}
	columns := make([]float32, dim*n) // of what the rows have over the mean
	for j := range dim {
		sum := 0.0
		for i := range n {
			sum += float64(rows[i*dim+j])
		}
		mean := sum / float64(n)
		c.mean[j] = float32(mean)
		for i := range n {
			columns[j*n+i] = float32(float64(rows[i*dim+j]) - mean)
		}
	}
	for from := 0; from < dim; from += blockRows {
		to := min(from+blockRows, dim)
		for i := from; i < to; i++ {
			c.half = append(c.half, make([]float32, to)...)
			row := c.half[len(c.half)-to:]
			Dots(columns[i*n:(i+1)*n], columns[:(i+1)*n], row)
			for j := range i {
				row[j] *= 2
			}
			for j := range i + 1 {
				row[j] /= float32(n)
			}
		}
	}
	return c
}

// Bytes is the memory it takes.
func (c *Covariance) Bytes() int64 { return 4 * int64(len(c.mean)+len(c.half)) }

// Moments returns the moments of the dot products with q, [dim]float32.
func (c *Covariance) Moments(q []float32) (mean, variance float64) {
	var products [blockRows]float32
	half := c.half
	for from := 0; from < len(q); from += blockRows {
		to := min(from+blockRows, len(q))
		n := Dots(q[:to], half, products[:to-from])
		for i, product := range products[:n] {
			variance += float64(q[from+i]) * float64(product)
		}
		half = half[n*to:]
	}
	return float64(Dot(q, c.mean)), max(0, variance)
}
