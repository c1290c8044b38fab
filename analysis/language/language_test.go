package language

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	f := func(text string, want Language) {
		t.Helper()
		if got := Of(text); got != want {
			t.Errorf("%q is taken for %q, want %q", text, got, want)
		}
	}
	f("How do I get a refund?", "en")
	f("best pizza in naples", "en")
	f("what is rrf", "en")
	f("Wie setze ich mein Passwort zurück?", "de")
	f("Warum singen Wale?", "de")
	f("Wie funktioniert die Fusion?", "de") // Dutch has wie and die too
	f("Où puis-je voir mes factures ?", "fr")
	f("¿Dónde puedo ver mis facturas?", "es")
	f("He olvidado mi contraseña", "es")
	f("Come posso cambiare la mia password?", "it")
	f("Hoe kan ik mijn wachtwoord wijzigen?", "nl")
	f("如何申请退款", "zh")
	f("怎麼申請退款", "zh")
	f("返金はどうやって申請しますか", "ja")
	f("ログイン", "ja")
	f("환불은 어떻게 신청하나요", "ko")
	// A few names in Latin letters do not make a text English, nor one name Chinese.
	f("在 Elasticsearch 里如何重建索引", "zh")
	f("Elasticsearch 重建索引", "zh")
	f("Elasticsearch のインデックスを作り直す", "ja")
	f("The dictionary of gojieba cuts 北京 out of longer words in a text", "en")
	// Nothing to tell it by.
	f("", "")
	f("42 + 17 = 59", "")
	f("xkcd", "")
	f("Привет, как дела?", "") // not one of ours
	f(strings.Repeat("The parcel is on its way. ", 10_000), "en")
}

func TestCode(t *testing.T) {
	f := func(tag string, want Language) {
		t.Helper()
		if got := Code(tag); got != want {
			t.Errorf("%q is %q, want %q", tag, got, want)
		}
	}
	f("en", "en")
	f(" ZH-Hant ", "zh")
	f("pt_BR", "pt")
	f("English", "")
	f("", "")
	f("é1", "")
}

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat("The parcel leaves the warehouse on the day after the order. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Of(text)
	}
}
