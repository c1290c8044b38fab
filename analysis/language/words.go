package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// common are the words that hold sentences of a language together. A question of five
// words has too few letters for statistics, and nearly always one of these.
//
//nolint:misspell // words of other languages
var common = byWord(map[Language]string{
	"en": `the of and to in is are do does did how what when where why who whose which can could may must
		should would will i you he she it we they my your his her our their me him them us a an this that
		these those there here for on at by with without from into about after before than as if or not no
		be been being was were am have has had get gets got between much many more most some any all its
		during while because best good over under up out off`,
	"de": `der die das den dem des ein eine einen einem einer eines und ist sind war waren bin wird werden
		wurde wie was wann wo warum wieso wer wen wem welche welcher welches wieviel kann kannst können darf
		muss müssen soll sollte ich du er sie es wir ihr mein meine meinen meinem meiner dein sein seine
		mich mir dich sich uns für auf an am im in ins mit ohne von vom aus bei beim zu zum zur nach über
		unter vor gegen um durch als wenn ob oder nicht kein keine auch noch nur schon man es gibt hat haben
		habe hilft immer mehr viel viele oft lange`,
	"fr": `le la les de des du un une et est sont était je tu il elle on nous vous ils elles mon ma mes ton son
		sa ses notre votre leur leurs comment que qu quoi quand où pourquoi qui quel quelle quels quelles
		combien peut puis doit dois faut fait faire pour sur sous avec sans dans en par chez vers ne pas
		plus si ou à au aux ce cet cette ces se y a ont ai as être avoir entre pendant comme depuis`,
	"es": `el la los las lo un una unos unas de del y e es son era fue yo tú él ella nosotros mi mis tu tus su
		sus nuestro cómo como qué que cuándo cuando dónde donde porqué quién quien cuál cuáles cuánto cuánta
		cuántos cuántas puede puedo debe debo hay hacer para por con sin en al a ante entre sobre desde
		hasta si o no ni más muy se me te le nos está están ser estar ha he han después antes durante ya`,
	"it": `il lo la gli i un uno una di del della dei delle dello degli da dal nel nella e è sono come che cosa
		quando dove perché chi quale quali quanto posso può per con su non si mi ti ci ho ha al alla ai più`,
	"pt": `o os as um uma de do da dos das em no na nos nas e é são como que quando onde quem qual quais quanto
		posso pode para por com sem não se meu minha seu sua ao à mais foi está`,
	"nl": `de het een en is zijn ik je jij hij zij wij we mijn jouw hoe wat wanneer waar waarom wie welke kan
		kun moet mag van voor op aan in met zonder uit bij naar over onder tegen om te niet geen als of ook
		nog er dat die deze dit hebben heeft`,
})

// letters that few other of these languages have.
var letters = map[rune]Language{
	'ß': "de", 'ä': "de", 'ö': "de", 'ñ': "es", '¿': "es", '¡': "es", 'ç': "fr", 'œ': "fr", 'ê': "fr",
	'ã': "pt", 'õ': "pt",
}

// byWord turns lists of words into the languages of each word.
func byWord(lists map[Language]string) map[string][]Language {
	languages := map[string][]Language{}
	for l, list := range lists {
		for _, w := range strings.Fields(list) {
			languages[w] = append(languages[w], l)
		}
	}
	return languages
}

// byWords gives the languages that have most of the words of a text among their common
// ones, sorted; none where none has any.
func byWords(text string) []Language {
	votes := map[Language]int{}
	all := 0
	var word [longestWord]byte
	n := 0
	end := func() {
		if n == 0 {
			return
		}
		all++
		if n <= len(word) {
			for _, l := range common[string(word[:n])] {
				votes[l]++
			}
		}
		n = 0
	}
	for _, r := range text {
		if r = unicode.ToLower(r); !unicode.IsLetter(r) {
			end()
		} else if n += utf8.RuneLen(r); n <= len(word) {
			utf8.EncodeRune(word[n-utf8.RuneLen(r):], r)
		}
		if r > unicode.MaxASCII {
			if l, ok := letters[r]; ok {
				votes[l]++
			}
		}
	}
	end()
	most := 0
	var best []Language
	for l, n := range votes {
		if n > most {
			most, best = n, nil
		}
		if n == most {
			best = append(best, l)
		}
	}
	if most == 1 && all > fewWords {
		return nil
	}
	slices.Sort(best)
	return best
}

// longestWord is in bytes; longer ones are no common words.
const longestWord = 16

// fewWords are so few that one common word among them tells something.
const fewWords = 4
