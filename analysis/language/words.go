package language

import (
	"slices"
	"strings"
	"unicode"
)

// common are the words that hold sentences of a language together. A question of five
// words has too few letters for statistics, and nearly always one of these.
//
//nolint:misspell // words of other languages
var common = map[Language]map[string]bool{
	"en": words(`the of and to in is are do does did how what when where why who whose which can could may must
		should would will i you he she it we they my your his her our their me him them us a an this that
		these those there here for on at by with without from into about after before than as if or not no
		be been being was were am have has had get gets got between much many more most some any all its
		during while because best good over under up out off`),
	"de": words(`der die das den dem des ein eine einen einem einer eines und ist sind war waren bin wird werden
		wurde wie was wann wo warum wieso wer wen wem welche welcher welches wieviel kann kannst können darf
		muss müssen soll sollte ich du er sie es wir ihr mein meine meinen meinem meiner dein sein seine
		mich mir dich sich uns für auf an am im in ins mit ohne von vom aus bei beim zu zum zur nach über
		unter vor gegen um durch als wenn ob oder nicht kein keine auch noch nur schon man es gibt hat haben
		habe hilft immer mehr viel viele oft lange`),
	"fr": words(`le la les de des du un une et est sont était je tu il elle on nous vous ils elles mon ma mes ton son
		sa ses notre votre leur leurs comment que qu quoi quand où pourquoi qui quel quelle quels quelles
		combien peut puis doit dois faut fait faire pour sur sous avec sans dans en par chez vers ne pas
		plus si ou à au aux ce cet cette ces se y a ont ai as être avoir entre pendant comme depuis`),
	"es": words(`el la los las lo un una unos unas de del y e es son era fue yo tú él ella nosotros mi mis tu tus su
		sus nuestro cómo como qué que cuándo cuando dónde donde porqué quién quien cuál cuáles cuánto cuánta
		cuántos cuántas puede puedo debe debo hay hacer para por con sin en al a ante entre sobre desde
		hasta si o no ni más muy se me te le nos está están ser estar ha he han después antes durante ya`),
	"it": words(`il lo la gli i un uno una di del della dei delle dello degli da dal nel nella e è sono come che cosa
		quando dove perché chi quale quali quanto posso può per con su non si mi ti ci ho ha al alla ai più`),
	"pt": words(`o os as um uma de do da dos das em no na nos nas e é são como que quando onde quem qual quais quanto
		posso pode para por com sem não se meu minha seu sua ao à mais foi está`),
	"nl": words(`de het een en is zijn ik je jij hij zij wij we mijn jouw hoe wat wanneer waar waarom wie welke kan
		kun moet mag van voor op aan in met zonder uit bij naar over onder tegen om te niet geen als of ook
		nog er dat die deze dit hebben heeft`),
}

// letters that few other of these languages have.
var letters = map[rune]Language{
	'ß': "de", 'ä': "de", 'ö': "de", 'ñ': "es", '¿': "es", '¡': "es", 'ç': "fr", 'œ': "fr", 'ê': "fr",
	'ã': "pt", 'õ': "pt",
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// byWords gives the languages that have most of the words of a text among their common
// ones, sorted; none where none has any.
func byWords(text string) []Language {
	votes := map[Language]int{}
	for _, r := range text {
		if l, ok := letters[unicode.ToLower(r)]; ok {
			votes[l]++
		}
	}
	all := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range all {
		for l, set := range common {
			if set[w] {
				votes[l]++
			}
		}
	}
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
	if most == 1 && len(all) > fewWords {
		return nil
	}
	slices.Sort(best)
	return best
}

// fewWords are so few that one common word among them tells something.
const fewWords = 4
