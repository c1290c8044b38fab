package jieba

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

// logarithm is that of the C library, which gojieba uses.
func logarithm(x float64) float64 { return float64(C.log(C.double(x))) }
