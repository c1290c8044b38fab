//go:build !purego

#include "textflag.h"

// ADD_CODES adds the products of 16 codes of a row and of the query, which are in
// Y8, to the row's eight sums.
#define ADD_CODES(row, sums) \
	VPMOVSXBW (row)(R13*1), Y10; \
	VPMADDWD  Y8, Y10, Y10; \
	VPADDD    Y10, sums, sums

// func dotsInt8AVX2(query []int16, at [2]*int8, out []int32, steps, apart int)
//
// R8 to R11 walk over the four runs of rows, whose sums are in Y0 to Y3. CX takes
// from a code to the one to be brought near, in the second cache: more can be on
// their way there than to the first.
TEXT ·dotsInt8AVX2(SB), NOSPLIT, $0-80
	MOVQ query_base+0(FP), SI
	MOVQ query_len+8(FP), DX
	MOVQ at_0+24(FP), R8
	MOVQ at_1+32(FP), CX
	MOVQ out_base+40(FP), DI
	MOVQ steps+64(FP), BX
	MOVQ apart+72(FP), AX

	SUBQ R8, CX

	MOVQ  AX, R13
	IMULQ DX, R13
	LEAQ  (R8)(R13*1), R9
	LEAQ  (R9)(R13*1), R10
	LEAQ  (R10)(R13*1), R11
	SHLQ  $2, AX            // AX and R12 = bytes in out to the second and fourth run
	LEAQ  (AX)(AX*2), R12

step:
	SUBQ  $1, BX
	JLT   done
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	XORQ  R13, R13          // R13 = codes done
	JMP   blocks

block:
	TESTQ      $63, R13
	JNE        near         // the line is asked for already
	ADDQ       R13, CX
	PREFETCHT1 (R8)(CX*1)
	PREFETCHT1 (R9)(CX*1)
	PREFETCHT1 (R10)(CX*1)
	PREFETCHT1 (R11)(CX*1)
	SUBQ       R13, CX

near:
	VMOVDQU (SI)(R13*2), Y8
	ADD_CODES(R8, Y0)
	ADD_CODES(R9, Y1)
	ADD_CODES(R10, Y2)
	ADD_CODES(R11, Y3)
	ADDQ    $16, R13

blocks:
	CMPQ R13, DX
	JB   block

	// In each half, the sums of four rows side by side; then the halves.
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	VPEXTRD      $1, X0, (DI)(AX*1)
	VPEXTRD      $2, X0, (DI)(AX*2)
	VPEXTRD      $3, X0, (DI)(R12*1)

	ADDQ DX, R8
	ADDQ DX, R9
	ADDQ DX, R10
	ADDQ DX, R11
	ADDQ $4, DI
	JMP  step

done:
	VZEROUPPER
	RET
