package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hybridge-search/hybridge/fault"
)

// argument is an argument in a command's line of usage: KB, [PLAN] or PATH...
type argument struct {
	name               string
	optional, repeated bool
}

// argumentsOf reads the arguments of a command from its line of usage, so that help, checks
// and completion agree.
func argumentsOf(cmd *cobra.Command) []argument {
	words := strings.Fields(cmd.Use)[1:]
	all := make([]argument, len(words))
	for i, word := range words {
		a := &all[i]
		word, a.repeated = strings.CutSuffix(word, "...")
		a.name = strings.Trim(word, "[]")
		a.optional = a.name != word
	}
	return all
}

// CheckArguments refuses too few and too many.
func CheckArguments(cmd *cobra.Command, args []string) error {
	all := argumentsOf(cmd)
	if len(all) > len(args) && !all[len(args)].optional {
		name := all[len(args)].name
		return &fault.Error{
			Kind: fault.InvalidArgument, Field: name, Detail: fmt.Sprintf("%s is missing: %s", name, cmd.UseLine()),
		}
	}
	if len(args) > len(all) && (len(all) == 0 || !all[len(all)-1].repeated) {
		return fault.New(fault.InvalidArgument, "there is one argument too many, %q: %s", args[len(all)], cmd.UseLine())
	}
	return nil
}

// checkCommand refuses unknown commands of a group.
func checkCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, sub := range cmd.Commands() {
		if isListed(sub) {
			known = append(known, sub.Name())
		}
	}
	err := fault.New(fault.InvalidArgument, "unknown command %q of %s", args[0], cmd.CommandPath())
	return suggest(err, "", nearest(args[0], known))
}

// flagProblem explains an invalid flag.
func flagProblem(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return checkCommand(cmd, args) // the flag follows an unknown command
	}
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return fault.New(fault.InvalidArgument, "unknown flag: -%s; put -- before what begins with a minus and is no flag",
			unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		told := fault.New(fault.InvalidArgument, "unknown flag: --%s", name)
		told.Field = "--" + name
		return suggest(told, "--", nearest(name, flagsThatMaybe(cmd)))
	case errors.As(err, &empty):
		told := fault.New(fault.InvalidArgument, "--%s needs a value", empty.GetSpecifiedName())
		told.Field = "--" + empty.GetSpecifiedName()
		return told
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return fault.Invalid("--"+f.Name, invalid.GetValue(), accepted(f.Value))
	default:
		return fault.New(fault.InvalidArgument, "%v", err)
	}
}

// flagsThatMaybe are the flags that somebody may have meant.
func flagsThatMaybe(cmd *cobra.Command) (all []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			all = append(all, f.Name)
		}
	})
	return all
}

// MissingFlag is the error of a missing flag.
func MissingFlag(name, accepted string) error {
	err := fault.New(fault.InvalidArgument, "%s is missing; it must be %s", name, accepted)
	err.Field = name
	return err
}

// LeftOut refuses flags that mean nothing beside something else.
func LeftOut(flags *pflag.FlagSet, beside string, names ...string) error {
	for _, name := range names {
		if flags.Changed(name) {
			return fault.Invalid("--"+name, flags.Lookup(name).Value.String(), "omitted with "+beside)
		}
	}
	return nil
}

// GivenWith refuses flags that mean nothing without another one.
func GivenWith(flags *pflag.FlagSet, other string, names ...string) error {
	for _, name := range names {
		if flags.Changed(name) && !flags.Changed(other) {
			return fault.Invalid("--"+name, flags.Lookup(name).Value.String(), "given with --"+other)
		}
	}
	return nil
}

// accepted describes the accepted values of a flag.
func accepted(v pflag.Value) string {
	known := map[string]string{
		"int": "a whole number", "float64": "a number", "bool": "true or false",
		(*languageValue)(nil).Type(): "en or zh",
		"duration":                   "a duration, as 90s or 720h", "stringToString": "name=value",
	}
	if words, ok := known[v.Type()]; ok {
		return words
	}
	return "of the type " + v.Type()
}

// ParseNumbers reads the numbers of a flag by their names.
func ParseNumbers(flag string, given map[string]string) (map[string]float64, error) {
	if len(given) == 0 {
		return nil, nil
	}
	numbers := make(map[string]float64, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		number, err := strconv.ParseFloat(given[name], 64)
		if err != nil || number != number || number > 1e300 || number < 0 {
			return nil, fault.Invalid(flag+" "+name, given[name], "a finite number >= 0")
		}
		numbers[name] = number
	}
	return numbers, nil
}
