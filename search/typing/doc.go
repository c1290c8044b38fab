// Package typing helps a user who types a question: with completions, and with corrections of words that occur in no
// chunk.
//
//	suggestions.go  requests and answers; suggesting.go finds suggestions in each knowledge base
//	typed.go        the typed text, taken apart
//	didyoumean.go   corrections of unknown words; mistyped.go tells typing errors from other words
//	surfaces.go     the forms of the index's words in texts
package typing
