package vector

import (
	"math"
	"unsafe"
)

// Sketch holds rows of unit vectors rounded to int8, a quarter of their size. It
// bounds a row's dot product with a query, so that a search reads in full only the
// rows that may be among the best. What is rounded is a row's difference from a
// centre, since embeddings lie close together. Each row has a scale of its own and
// keeps the length of its rounding error, which bounds how far a product may be off
// (Cauchy-Schwarz). Most of a query points to the centre, and in that direction the
// error is known exactly.
//
// Rows may be read while others are set.
type Sketch struct {
	stride int // dim in whole blocks; what is beyond dim is 0
	codes  []int8
	rows   []rounding
	centre []float32
	length float64 // of the centre, 1 of one that is zero
}

// rounding turns a row's codes back into its difference from the centre, with an error
// of length along in the centre's direction and at most across at right angles to it.
type rounding struct{ scale, along, across float32 }

// block is how many codes a kernel reads at once; it reads whole blocks only.
const block = 16

// NewSketch makes room for a number of rows, which have no vectors yet. The closer the
// vectors will lie to the centre, the narrower are the limits. The centre is at most of
// length 1 and must not be written to again.
func NewSketch(centre []float32, rows int) *Sketch {
	stride := (len(centre) + block - 1) / block * block
	s := &Sketch{
		stride: stride, codes: make([]int8, rows*stride), rows: make([]rounding, rows),
		centre: centre, length: 1,
	}
	var square float64
	for _, x := range centre {
		square += float64(x) * float64(x)
	}
	if square > 0 {
		s.length = math.Sqrt(square)
	}
	for i := range s.rows {
		s.rows[i].scale = float32(math.NaN())
	}
	return s
}

// Set writes a row, [dim]float32 as Unit gives it.
func (s *Sketch) Set(row int, unit []float32) {
	room := make([]float32, 0, usualDim)
	codes := s.codes[row*s.stride:]
	for i, x := range unit {
		room = append(room, x-s.centre[i])
	}
	scale, lost := round(room, math.MaxInt8, codes)
	along := 0.0
	for i, x := range room {
		along += float64(s.centre[i]) / s.length * (float64(x) - float64(scale)*float64(codes[i]))
	}
	s.rows[row] = rounding{scale, float32(along), upwards(math.Sqrt(max(0, lost*lost-along*along)))}
}

// usualDim is the largest dimension for which Set allocates nothing.
const usualDim = 1024

// Bytes is the memory that the sketch takes.
func (s *Sketch) Bytes() int64 { return int64(len(s.codes) + 12*len(s.rows) + 4*len(s.centre)) }

// Query is a unit vector to compare with the rows of sketches. It may be used
// concurrently.
type Query struct {
	unit  []float32
	codes []int16
	scale float32
	slack float32 // by which a limit is off that knew a row exactly
	error float64 // of a Dot with a vector that is no longer than a unit vector
}

// NewQuery prepares a query, [dim]float32 as Unit gives it, which is not written to
// again.
func NewQuery(unit []float32) *Query {
	q := &Query{unit: unit, codes: make([]int16, (len(unit)+block-1)/block*block)}
	var sum float64
	for _, x := range unit {
		sum += math.Abs(float64(x))
	}
	most := float64(math.MaxInt16)
	if largest := maxAbs(unit); largest > 0 {
		// A product with a row must be an int32.
		most = min(most, math.Floor((math.MaxInt32/(math.MaxInt8+1)-float64(len(unit)))*largest/sum))
	}
	scale, lost := round(unit, most, q.codes)
	q.scale = scale
	q.error = (float64(len(unit))/lanes + 6) * 0x1p-24
	// A row's scaled codes are no longer than 3. Beside what rounding took from the
	// query, there are the errors of Dots with the row and, twice, with the centre, of
	// lengths and differences, and of computing with limits.
	q.slack = upwards(3*lost + 3*q.error + 4e-6)
	return q
}

// Limits writes bounds of the Dot of each of the rows from first on with the query,
// which hold for a Dot cut to [-1, 1] as well; NaN for a row without a vector. least
// and most are as long as the number of rows.
func (s *Sketch) Limits(q *Query, first int, least, most []float32) {
	r := Reader{Query: q}
	r.Limits(s, nil, first, least, most)
}

// Reader reads one sketch after the other for a query. It must not be used by several
// goroutines at once.
type Reader struct {
	Query *Query

	centre              []float32 // for which the others are
	base, along, across float32
}

// Limits is Limits of the sketch. Meanwhile it prefetches the same rows of the sketch
// to be read next, if that is not nil: reading memory takes most of the time.
func (r *Reader) Limits(s, next *Sketch, first int, least, most []float32) {
	q := r.Query
	r.turnTo(s)
	base, along, across := r.base, r.along, r.across
	var room [256]int32
	for len(least) > 0 {
		n := min(len(least), len(room))
		products := room[:n]
		dotsInt8(q.codes, s.codesOf(first, n), next.codesOf(first, n), products)
		rows, lows, highs := s.rows[first:][:n], least[:n], most[:n]
		for i, product := range products {
			row := &rows[i]
			about := base + float32(product)*(q.scale*row.scale) + along*row.along
			off := across*row.across + q.slack
			lows[i], highs[i] = about-off, about+off
		}
		first, least, most = first+n, least[n:], most[n:]
	}
}

// turnTo works out how the query lies to the sketch's centre, which most often is that
// of the sketch before.
func (r *Reader) turnTo(s *Sketch) {
	if r.centre != nil && unsafe.SliceData(r.centre) == unsafe.SliceData(s.centre) {
		return
	}
	r.centre = s.centre
	r.base = Dot(r.Query.unit, s.centre)
	r.along = r.base / float32(s.length)
	r.across = r.Query.across(float64(r.along))
}

// codesOf are the codes of n rows; none without a sketch.
func (s *Sketch) codesOf(first, n int) []int8 {
	if s == nil || (first+n)*s.stride > len(s.codes) {
		return nil
	}
	return s.codes[first*s.stride : (first+n)*s.stride]
}

// across is at least the length of the query at right angles to a direction in which
// it has about the length along.
func (q *Query) across(along float64) float32 {
	return upwards(math.Sqrt(max(0, 1-along*along) + 4*q.error + 1e-6))
}

// round writes a whole number in [-most, most] for each component. Times scale, they
// are the components, up to an error of length lost.
func round[T int8 | int16](v []float32, most float64, codes []T) (scale float32, lost float64) {
	scale = float32(maxAbs(v) / most)
	var square, inverse float64
	if scale > 0 {
		inverse = 1 / float64(scale)
	}
	for i, x := range v {
		code := math.RoundToEven(float64(x) * inverse)
		if code > most { // scale was rounded; as a rule none is
			code = most
		} else if code < -most {
			code = -most
		}
		codes[i] = T(code)
		rest := float64(x) - float64(scale)*code
		square += rest * rest
	}
	return scale, math.Sqrt(square)
}

// maxAbs is the largest absolute value of finite numbers, whose bits without the sign
// are ordered as they are.
func maxAbs(v []float32) float64 {
	var most uint32
	for _, x := range v {
		most = max(most, math.Float32bits(x)&^(1<<31))
	}
	return float64(math.Float32frombits(most))
}

// upwards rounds a limit up, far enough to stay a limit after some arithmetic.
func upwards(x float64) float32 { return float32(x * (1 + 1e-5)) }

// dotsInt8Portable is the kernel for processors without one in assembly.
func dotsInt8Portable(query []int16, rows []int8, out []int32) {
	for i := range out {
		row := rows[i*len(query):][:len(query)]
		var s0, s1, s2, s3 int32
		for k := 0; k < len(query); k += block {
			x, y := (*[block]int16)(query[k:]), (*[block]int8)(row[k:])
			for j := 0; j < block; j += 4 {
				s0 += int32(x[j]) * int32(y[j])
				s1 += int32(x[j+1]) * int32(y[j+1])
				s2 += int32(x[j+2]) * int32(y[j+2])
				s3 += int32(x[j+3]) * int32(y[j+3])
			}
		}
		out[i] = s0 + s1 + s2 + s3
	}
}
