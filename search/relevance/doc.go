// Package relevance says how probably a hit answers the question, from what the legs measured and never from the fused
// score. It computes with values and asks nobody.
//
//	profile.go     the languages of the chunks of a knowledge base
//	estimator.go   the scale from cosines, or from word scores, to evidence
//	found.go       the evidence of each hit of a knowledge base
//	calibrated.go  the relevance of each hit, given the best of all
package relevance
