package jieba

// #cgo LDFLAGS: -lm
// #include <math.h>
import "C"

// logarithm calls the C library, as gojieba does.
func logarithm(x float64) float64 { return float64(C.log(C.double(x))) }
