//go:build !purego

#include "textflag.h"

// Sixteen times "read", then sixteen times "take zero": what begins 4*t bytes
// before the middle is the mask of a tail of t elements.
DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+32(SB)/8, $-1
DATA masks<>+40(SB)/8, $-1
DATA masks<>+48(SB)/8, $-1
DATA masks<>+56(SB)/8, $-1
GLOBL masks<>(SB), RODATA|NOPTR, $128

// ADD_BLOCK adds the products of 16 elements of a row, R13 bytes into it, and of the
// query, which are in Y8 and Y9, to the row's lanes. It asks for what lies ahead in the
// second cache: more of that can be on its way than in the first.
#define ADD_BLOCK(row, low, high, ahead) \
	VMULPS     (row)(R13*1), Y8, Y10; \
	VMULPS     32(row)(R13*1), Y9, Y11; \
	VADDPS     Y10, low, low; \
	VADDPS     Y11, high, high; \
	PREFETCHT1 ahead

// ADD_WIDE is ADD_BLOCK with the query's 16 elements and the row's lanes in a register
// each. It asks for nothing: in as few instructions as these the processor sees far
// enough ahead by itself, and more would shorten its sight.
#define ADD_WIDE(row, lanes) \
	VMULPS (row)(R13*1), Z8, Z10; \
	VADDPS Z10, lanes, lanes

// ADD_TAIL is ADD_BLOCK for the CX bytes under the mask in Y12 and Y13. The
// others are not read; they add zero, which changes no lane.
#define ADD_TAIL(row, low, high) \
	VMASKMOVPS (row), Y12, Y10; \
	VMASKMOVPS 32(row), Y13, Y11; \
	VMULPS     Y10, Y8, Y10; \
	VMULPS     Y11, Y9, Y11; \
	VADDPS     Y10, low, low; \
	VADDPS     Y11, high, high; \
	ADDQ       CX, row

// STORE adds a row's lanes by halves: k and k+8, k+4, k+2, k+1. X is the lower half
// of the register low.
#define STORE(low, high, x, to) \
	VADDPS       high, low, low; \
	VEXTRACTF128 $1, low, X10; \
	VADDPS       X10, x, x; \
	VMOVHLPS     x, x, X10; \
	VADDPS       X10, x, x; \
	VMOVSHDUP    x, X10; \
	VADDSS       X10, x, x; \
	VMOVSS       x, to

// func dotsAVX(query, rows, out []float32, steps, apart int)
//
// R8 to R11 walk over the four runs of rows, whose lanes are in Y0, Y1 to Y6, Y7.
TEXT ·dotsAVX(SB), NOSPLIT, $0-88
	MOVQ query_base+0(FP), SI
	MOVQ query_len+8(FP), DX
	MOVQ rows_base+24(FP), R8
	MOVQ out_base+48(FP), DI
	MOVQ steps+72(FP), BX
	MOVQ apart+80(FP), AX

	SHLQ  $2, AX            // AX and R12 = bytes in out to the second and fourth run
	LEAQ  (AX)(AX*2), R12
	MOVQ  AX, R13
	IMULQ DX, R13
	LEAQ  (R8)(R13*1), R9
	LEAQ  (R9)(R13*1), R10
	LEAQ  (R10)(R13*1), R11

	MOVQ    DX, CX
	ANDQ    $15, CX
	SHLQ    $2, CX          // CX = bytes in the tail of the query and of each row
	LEAQ    masks<>+64(SB), R13
	SUBQ    CX, R13
	VMOVUPS (R13), Y12
	VMOVUPS 32(R13), Y13

	SHRQ $4, DX
	SHLQ $6, DX             // DX = bytes of the query's whole blocks

step:
	SUBQ   $1, BX
	JLT    done
	VXORPS Y0, Y0, Y0       // and with it the upper half of Z0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	XORQ   R13, R13         // R13 = bytes done
	CMPB   ·wide(SB), $0
	JEQ    blocks
	JMP    wides

wide:
	VMOVUPS (SI)(R13*1), Z8
	ADD_WIDE(R8, Z0)
	ADD_WIDE(R9, Z2)
	ADD_WIDE(R10, Z4)
	ADD_WIDE(R11, Z6)
	ADDQ    $64, R13

wides:
	CMPQ          R13, DX
	JB            wide
	VEXTRACTF64X4 $1, Z0, Y1
	VEXTRACTF64X4 $1, Z2, Y3
	VEXTRACTF64X4 $1, Z4, Y5
	VEXTRACTF64X4 $1, Z6, Y7
	JMP           tail

block:
	VMOVUPS (SI)(R13*1), Y8
	VMOVUPS 32(SI)(R13*1), Y9
	ADD_BLOCK(R8, Y0, Y1, 1024(R8)(R13*1))
	ADD_BLOCK(R9, Y2, Y3, 1024(R9)(R13*1))
	ADD_BLOCK(R10, Y4, Y5, 1024(R10)(R13*1))
	ADD_BLOCK(R11, Y6, Y7, 1024(R11)(R13*1))
	ADDQ    $64, R13

blocks:
	CMPQ R13, DX
	JB   block

tail:
	ADDQ       R13, R8
	ADDQ       R13, R9
	ADDQ       R13, R10
	ADDQ       R13, R11
	TESTQ      CX, CX
	JZ         store
	VMASKMOVPS (SI)(R13*1), Y12, Y8
	VMASKMOVPS 32(SI)(R13*1), Y13, Y9
	ADD_TAIL(R8, Y0, Y1)
	ADD_TAIL(R9, Y2, Y3)
	ADD_TAIL(R10, Y4, Y5)
	ADD_TAIL(R11, Y6, Y7)

store:
	STORE(Y0, Y1, X0, (DI))
	STORE(Y2, Y3, X2, (DI)(AX*1))
	STORE(Y4, Y5, X4, (DI)(AX*2))
	STORE(Y6, Y7, X6, (DI)(R12*1))
	ADDQ $4, DI
	JMP  step

done:
	VZEROUPPER
	RET

// func dotsOfAVX(query []float32, rows, following *[4]*float32, out *[4]float32)
//
// R8 to R11 are the rows, whose lanes are in Y0, Y1 to Y6, Y7; R12, AX, BX and CX
// are those that follow.
TEXT ·dotsOfAVX(SB), NOSPLIT, $0-48
	MOVQ query_base+0(FP), SI
	MOVQ query_len+8(FP), DX
	MOVQ rows+24(FP), DI
	MOVQ 0(DI), R8
	MOVQ 8(DI), R9
	MOVQ 16(DI), R10
	MOVQ 24(DI), R11
	MOVQ following+32(FP), DI
	MOVQ 0(DI), R12
	MOVQ 8(DI), AX
	MOVQ 16(DI), BX
	MOVQ 24(DI), CX
	MOVQ out+40(FP), DI

	SHRQ   $4, DX
	SHLQ   $6, DX           // DX = bytes of the query's whole blocks
	XORQ   R13, R13         // R13 = bytes done
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	JMP    rest

next:
	VMOVUPS (SI)(R13*1), Y8
	VMOVUPS 32(SI)(R13*1), Y9
	ADD_BLOCK(R8, Y0, Y1, (R12)(R13*1))
	ADD_BLOCK(R9, Y2, Y3, (AX)(R13*1))
	ADD_BLOCK(R10, Y4, Y5, (BX)(R13*1))
	ADD_BLOCK(R11, Y6, Y7, (CX)(R13*1))
	ADDQ    $64, R13

rest:
	CMPQ R13, DX
	JB   next

	MOVQ query_len+8(FP), CX
	ANDQ $15, CX
	JZ   sums
	SHLQ $2, CX             // CX = bytes in the tail of the query and of each row
	LEAQ masks<>+64(SB), R12
	SUBQ CX, R12
	VMOVUPS (R12), Y12
	VMOVUPS 32(R12), Y13
	ADDQ R13, R8
	ADDQ R13, R9
	ADDQ R13, R10
	ADDQ R13, R11
	VMASKMOVPS (SI)(R13*1), Y12, Y8
	VMASKMOVPS 32(SI)(R13*1), Y13, Y9
	ADD_TAIL(R8, Y0, Y1)
	ADD_TAIL(R9, Y2, Y3)
	ADD_TAIL(R10, Y4, Y5)
	ADD_TAIL(R11, Y6, Y7)

sums:
	STORE(Y0, Y1, X0, (DI))
	STORE(Y2, Y3, X2, 4(DI))
	STORE(Y4, Y5, X4, 8(DI))
	STORE(Y6, Y7, X6, 12(DI))
	VZEROUPPER
	RET
