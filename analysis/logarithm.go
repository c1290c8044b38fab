package analysis

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

// logarithm is the C library's, as gojieba weighs words by it: math.Log may differ
// in the last bit, which decides between words of the same frequencies.
func logarithm(x float64) float64 { return float64(C.log(C.double(x))) }
