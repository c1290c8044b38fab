// Package vector multiplies one query with many rows of float32: the exact scan
// of a page of vectors, at about the speed at which memory can be read. A Sketch
// of the rows, a quarter of their size, tells first which of them to read.
//
// A dot product has the same bits on every processor and wherever its row stands.
// Its order of summation is fixed and knows of no blocks of rows: lane i mod 16
// sums the rounded products of elements i, i+16, i+32, …, then the 16 lanes are
// added by halves (lane k and k+8, k and k+4, k and k+2, k and k+1). So rankings
// and ties are the same everywhere. For that no kernel uses fused multiply-add;
// the scan waits for memory, not for arithmetic.
//
// While nothing overflows or underflows, the error is below (dim/16 + 6)·2⁻²⁴
// times Σ|aᵢ·bᵢ|: 1e-5 is kept up to dim 2500 (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd edition, section 4.2). NaN and infinities spread as in
// Go.
package vector
