// Package present makes a page of the ranking: the Response with its hits, their highlights and neighbours.
//
//	present.go     the page, why it is empty, and the explanation of the whole answer
//	highlight.go   the words of the question marked; nearest.go the sentence nearest to it
//	neighbours.go  the chunks before and after a hit
package present
