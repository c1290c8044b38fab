package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/ingest/convert"
	"github.com/hybridge-search/hybridge/search"
	"github.com/hybridge-search/hybridge/search/rerank"
)

// elsewhere are the words of settings that no form checks.
var elsewhere = []string{
	"host:port", "host names without a port", "origins, as https://app.example", "addresses or networks, such as 10.0.0.0/8",
	"64 hexadecimal digits", "a filter as of a search, such as {owner: anna}", "the name of a built-in preset", // by Validate
	"a file, or nothing", "a PEM file, or nothing", "a folder or file, or nothing", "an executable file", // when they are opened
	"true or false", "a text", "a list of texts", "a list", "a map", "a whole number", "a number", // of any value
}

func TestWordsAreForms(t *testing.T) {
	ofPresets := func(key string) bool { return strings.HasPrefix(key, "presets[].") } // search.Overrides checks them
	for _, s := range Settings() {
		if _, _, ok := formOf(s.Accept); !ok && !slices.Contains(elsewhere, s.Accept) && !ofPresets(s.Key) {
			t.Errorf("%s accepts %q, by which nothing checks it; want the words of a form", s.Key, s.Accept)
		}
	}
	for key, names := range map[string][]string{
		"ingest.converter_shape": convert.Shapes(), "reranker.shape": rerank.Shapes, "rerankers[].shape": rerank.Shapes,
	} {
		_, said, _ := formOf(settingOf(key).Accept)
		got := append(strings.Split(said[1], ", "), said[2])
		if want := slices.Sorted(slices.Values(names)); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("%s accepts %q, want %q", key, got, want)
		}
	}
	if _, said, _ := formOf(settingOf("presets[x].top_k").Accept); said[2] != strconv.Itoa(search.MaxTopK) {
		t.Errorf("top_k of a preset is at most %s, want %d", said[2], search.MaxTopK)
	}
}

// edges are a setting's values at its bounds, and beyond them.
func edges(s *Setting) (within, beyond []string) {
	_, said, _ := formOf(s.Accept)
	switch {
	case s.Type == reflect.TypeFor[time.Duration]():
		if s.Accept == "a duration, 0 or more" {
			return []string{"0s"}, []string{"-1ns"}
		}
		return []string{"1ns"}, []string{"0s", "-1ns"}
	case s.Type == reflect.TypeFor[Size]() && len(said) == 1:
		return []string{"1B"}, []string{"0B"}
	case s.Type == reflect.TypeFor[Size]():
		least, _ := parseSize(said[1])
		most, _ := parseSize(said[2])
		return []string{said[1], said[2]}, []string{fmt.Sprintf("%dB", least-1), fmt.Sprintf("%dB", most+1)}
	case s.Type == reflect.TypeFor[int]() && len(said) == 3:
		least, _ := strconv.Atoi(said[1])
		most, _ := strconv.Atoi(said[2])
		return []string{said[1], said[2]}, []string{strconv.Itoa(least - 1), strconv.Itoa(most + 1)}
	case s.Type == reflect.TypeFor[int]() && len(said) == 2:
		least, _ := strconv.Atoi(said[1])
		return []string{said[1]}, []string{strconv.Itoa(least - 1)}
	case s.Type == reflect.TypeFor[float64]() && len(said) == 3:
		return []string{said[1], said[2]}, []string{"-0.001", "1.001"}
	case s.Type == reflect.TypeFor[float64]():
		return []string{"0.001", "1"}, []string{"0", "1.001"}
	}
	return nil, nil
}

// Every number is taken at its bounds and refused beyond them, by an error that names it and says them.
func TestBoundsThatAreSaidAreHeld(t *testing.T) {
	tried := 0
	for _, s := range Settings() {
		variable := s.Env()
		if variable == "" {
			continue
		}
		refused := func(value string) string {
			_, err := Load("", nil, []string{variable + "=" + value})
			for _, one := range joined(err) {
				var f *fault.Error
				if errors.As(one, &f) && f.Field == s.Key {
					return one.Error()
				}
			}
			return ""
		}
		within, beyond := edges(&s)
		for _, value := range within {
			if said := refused(value); said != "" {
				t.Errorf("%s=%s: %s; want it taken", s.Key, value, said)
			}
		}
		for _, value := range beyond {
			if value == s.Default {
				continue
			}
			tried++
			if said := refused(value); !strings.Contains(said, s.Accept) {
				t.Errorf("%s=%s: %q; want an error with %q", s.Key, value, said, s.Accept)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d values beyond bounds were tried; want at least 60", tried)
	}
}

// joined are the errors that one joins.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		return all.Unwrap()
	}
	return []error{err}
}
