package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hybridge-search/hybridge/config"
	"github.com/hybridge-search/hybridge/fault"
)

// suggestion is an error with a suggested correction.
type suggestion struct {
	error
	meant []string
}

// Error implements error.
func (s *suggestion) Error() string {
	return fmt.Sprintf("%v; did you mean %s?", s.error, strings.Join(s.meant, " or "))
}

// Unwrap gives the error without them.
func (s *suggestion) Unwrap() error { return s.error }

// suggest adds names to an error, if there are any.
func suggest(err error, prefix string, close []string) error {
	if len(close) == 0 {
		return err
	}
	s := &suggestion{error: err}
	for _, name := range close {
		s.meant = append(s.meant, prefix+name)
	}
	return s
}

// nearest gives the names that a word most likely stands for, at most three: those one letter
// away or beginning with it, else those two letters away.
func nearest(word string, names []string) []string {
	const most, isShort = 3, 4
	if word == "" {
		return nil
	}
	list := &cobra.Command{}
	for _, name := range names {
		list.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for list.SuggestionsMinimumDistance = 1; list.SuggestionsMinimumDistance <= 2; list.SuggestionsMinimumDistance++ {
		found := list.SuggestionsFor(word)
		if len(found) > 0 {
			return found[:min(most, len(found))]
		}
		if len(word) < isShort {
			break
		}
	}
	return nil
}

// nearestSetting are the settings that an error about an unknown one may be about.
func nearestSetting(err error) []string {
	var f *fault.Error
	if !errors.As(err, &f) || f.Field == "" {
		return nil
	}
	var known []string
	for _, s := range config.Settings() {
		if variable := s.Env(); variable != "" && strings.HasPrefix(f.Field, config.EnvPrefix) {
			known = append(known, variable)
		} else if strings.HasPrefix(f.Detail, "setting "+f.Field+" ") {
			known = append(known, s.Key)
		}
	}
	if slices.Contains(known, f.Field) {
		return nil
	}
	return nearest(f.Field, known)
}

// didYouMean looks whether an error is about a name on the command line that is like one there is.
func didYouMean(ctx context.Context, a *asked, err error) error {
	var already *suggestion
	if errors.As(err, &already) || !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.InvalidArgument) {
		return err
	}
	if close := nearestSetting(err); len(close) > 0 {
		return suggest(err, "", close)
	}
	text := err.Error()
	for _, given := range namesGiven(a.cmd) {
		if !strings.Contains(text, strconv.Quote(given.value)) {
			continue
		}
		known := given.names(ctx, a)
		if close := nearest(given.value, known); !slices.Contains(known, given.value) && len(close) > 0 {
			return suggest(err, "", close)
		}
	}
	return err
}
