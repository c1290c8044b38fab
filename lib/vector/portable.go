package vector

// dotsPortable is the kernel for processors without one in assembly.
func dotsPortable(query, rows, out []float32) {
	dim := len(query)
	for i := range out {
		out[i] = dotPortable(query, rows[i*dim:(i+1)*dim])
	}
}

func dotsOfPortable(query []float32, rows [][]float32, out []float32) {
	for i := range out {
		out[i] = dotPortable(query, rows[i][:len(query)])
	}
}

// dotPortable is the dot product of two vectors of the same length. It goes over
// them twice, since only eight sums stay in registers.
func dotPortable(a, b []float32) float32 {
	var sums [lanes]float32
	sumBlocks((*[8]float32)(sums[:8]), a, b, 0)
	sumBlocks((*[8]float32)(sums[8:]), a, b, 8)
	whole := len(a) - len(a)%lanes
	for i, x := range a[whole:] {
		sums[i] += float32(x * b[whole+i])
	}
	for half := lanes / 2; half > 0; half /= 2 {
		for k := range half {
			sums[k] += sums[k+half]
		}
	}
	return sums[0]
}

// sumBlocks sums eight lanes, from first on, over all whole blocks. The conversions
// keep the compiler from fusing a product with its sum (Go specification, section
// "Floating-point operators").
func sumBlocks(sums *[8]float32, a, b []float32, first int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= lanes && len(b) >= lanes {
		x, y := (*[8]float32)(a[first:]), (*[8]float32)(b[first:])
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
		a, b = a[lanes:], b[lanes:]
	}
	*sums = [8]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}
