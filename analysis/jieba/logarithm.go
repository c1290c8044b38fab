package jieba

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

// logarithm is the C library's, by which gojieba weighs words.
func logarithm(x float64) float64 { return float64(C.log(C.double(x))) }
