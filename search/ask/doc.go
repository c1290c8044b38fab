// Package ask turns a request into the question that every knowledge base is asked: parsed, filtered and embedded once
// for all of them.
//
//	asker.go       Asker, and its dependencies
//	question.go    Question, with its wordings and their vectors by each model
//	asked.go       Asked, the planned request with its question: the input of every later step
//	matched.go     the query rules that the question matches
//	vocabulary.go  the words that statistics are asked for, with their synonyms
package ask
