// Package ask turns a request into the question that every knowledge base is asked: parsed, filtered and embedded once
// for all of them.
//
//	asker.go       Asker, and what it needs of others
//	question.go    Question, with its wordings and their vectors by each model
//	asked.go       Asked, the planned request with its question: what every later step goes by
//	matched.go     the query rules that the question matches
//	vocabulary.go  the words that statistics are asked for, with their synonyms
package ask
