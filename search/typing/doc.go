// Package typing helps whoever types a question: how it may go on, and what was probably meant by words that no chunk
// has.
//
//	suggestions.go  what is asked and answered; suggesting.go takes suggestions out of each knowledge base
//	typed.go        what was typed, taken apart
//	didyoumean.go   corrections of words that no chunk has; mistyped.go tells those from other words
//	surfaces.go     the forms in which texts write the words of an index
package typing
