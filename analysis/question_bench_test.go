package analysis

import "testing"

// BenchmarkQuestion analyses a question and makes its text query, with phrases.
func BenchmarkQuestion(b *testing.B) {
	rules := Rules{Weighting: TFIDF, Phrases: true, PhraseSlop: 2, PhraseBoost: 1.5}
	for name, question := range map[string]string{
		"chinese": "如何为已经付款的企业订单申请退款，发票需要先寄回财务部门吗？",
		"english": "How do I request a refund for an order that was already paid, and does the invoice go back first?",
	} {
		b.Run(name, func(b *testing.B) {
			f := Frequencies{Docs: 20_000}
			for i := range shared.ParsePlain(question).Terms {
				f.DF = append(f.DF, 10+i)
			}
			b.ReportAllocs()
			for b.Loop() {
				Compose(shared.ParsePlain(question), f, nil, rules)
			}
		})
	}
}
