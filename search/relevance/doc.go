// Package relevance estimates the probability that a hit answers the question, from the legs' scores and never from the
// fused score. It computes with values and calls no engine or model.
//
//	profile.go     the languages of the chunks of a knowledge base
//	estimator.go   the scale from cosines, or from word scores, to evidence
//	found.go       the evidence of each hit of a knowledge base
//	calibrated.go  the relevance of each hit, given the best of all
package relevance
