package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/locale"
)

// The flag for the language of a command line, and what it may be.
const langFlag = "lang"

var languageNames = []string{"en", "zh"}

// languageValue is the value of the flag.
type languageValue struct{ tag string }

func (v *languageValue) String() string { return v.tag }

// Type implements pflag.Value.
func (*languageValue) Type() string { return strings.Join(languageNames, "|") }

// Set implements pflag.Value.
func (v *languageValue) Set(tag string) error {
	if !slices.Contains(languageNames, tag) {
		return errors.New("unknown language")
	}
	v.tag = tag
	return nil
}

// languageOf gives the language of a command line: by its flag, else by the environment. It is known before the command
// line is read, since the help and errors of flags are texts too.
func languageOf(args []string, variable func(string) string) *locale.Language {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		tag, ok := strings.CutPrefix(arg, "--"+langFlag+"=")
		if !ok && arg == "--"+langFlag && i+1 < len(args) {
			tag, ok = args[i+1], true
		}
		if ok && slices.Contains(languageNames, tag) {
			return locale.MatchCommands(tag)
		}
	}
	name := cmp.Or(variable("LC_ALL"), variable("LC_MESSAGES"), variable("LANG"))
	name, _, _ = strings.Cut(name, ".")
	return locale.MatchCommands(strings.ReplaceAll(name, "_", "-"))
}

// speak sets the language of what the program writes from now on.
func (p *Program) speak(language *locale.Language) {
	if p.language = language; language != nil { // English is written as it is
		p.Stdout, p.Stderr = &localized{p.Stdout, language}, &localized{p.Stderr, language}
	}
}

// Language is the language of whoever reads what the program writes.
func (p *Program) Language() *locale.Language { return p.language }

// translateHelp translates the help of a command, and the texts that shells show beside its name.
func (p *Program) translateHelp(cmd *cobra.Command) {
	if p.language == nil {
		return
	}
	cmd.Short, cmd.Long = p.language.Text(cmd.Short), p.language.Text(cmd.Long)
	for _, group := range cmd.Groups() {
		group.Title = p.language.Text(group.Title)
	}
	translate := func(f *pflag.Flag) { f.Usage = p.translateUsage(f) }
	cmd.Flags().VisitAll(translate)
	cmd.PersistentFlags().VisitAll(translate)
}

// translateUsage translates the text of a flag. Of a setting it is made of two, which servers have as well.
func (p *Program) translateUsage(f *pflag.Flag) string {
	for _, s := range config.Settings() {
		if s.Flag == f.Name && f.Usage == s.Usage() {
			return strings.TrimSuffix(p.language.Text(s.Doc), "。") + "（" + p.language.Text(s.Accept) + "）"
		}
	}
	return p.language.Text(f.Usage)
}
