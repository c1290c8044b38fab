package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hybridge-search/hybridge/access"
)

// form is a kind of value. A setting is checked by the very words that describe it, so that no
// bound can be documented and not enforced.
type form struct {
	words string // the whole text of the tag, as a regular expression
	// fits reports whether one value, an item of a list, is of the form; said has the groups of words.
	fits func(v reflect.Value, said []string) bool
	// show gives the text for errors in place of the value; nil: the value.
	show func(text string) string
}

var forms = []form{
	{words: `(\S+) to (\d\S*)`, fits: func(v reflect.Value, said []string) bool {
		least, most := numberOf(said[1], v.Type()), numberOf(said[2], v.Type())
		return compare(v, least) >= 0 && compare(v, most) <= 0
	}},
	{words: `a whole number >= (\d+)`, fits: func(v reflect.Value, said []string) bool {
		return compare(v, numberOf(said[1], v.Type())) >= 0
	}},
	{words: `more than 0, at most 1`, fits: func(v reflect.Value, _ []string) bool {
		return v.Float() > 0 && v.Float() <= 1
	}},
	{words: `a (?:duration|size) above 0, as .*`, fits: func(v reflect.Value, _ []string) bool { return v.Int() > 0 }},
	{words: `a duration, 0 or more`, fits: func(v reflect.Value, _ []string) bool { return v.Int() >= 0 }},
	{words: `at most (\d+) bytes`, fits: func(v reflect.Value, said []string) bool {
		return v.Len() <= numberOf(said[1], reflect.TypeFor[int]()).Interface().(int)
	}},
	{words: `(\d+) characters or more, or nothing`, fits: func(v reflect.Value, said []string) bool {
		return v.Len() >= numberOf(said[1], reflect.TypeFor[int]()).Interface().(int)
	}},
	{words: `(\w+(?:, \w+)*) or (\w+)`, fits: func(v reflect.Value, said []string) bool { // "nothing": it is not set
		return v.Kind() == reflect.Bool || slices.Contains(append(strings.Split(said[1], ", "), said[2]), v.String())
	}},
	{words: `(?:an http\(s\) URL|http\(s\) URLs)(?:, or nothing)?`, fits: schemes("http", "https"), show: hidePassword},
	{words: `a postgres:// URL, or nothing`, fits: schemes("postgres", "postgresql"), show: hideDatabasePassword},
	{words: `a redis:// or rediss:// URL, or nothing`, fits: schemes("redis", "rediss"), show: hidePassword},
	{words: `a folder|the name of a preset`, fits: func(v reflect.Value, _ []string) bool { return v.Len() > 0 }},
	{words: `lower-case letters, digits, _ and -, beginning with a letter`, fits: matching(`[a-z][a-z0-9_-]{0,63}`)},
	{words: `a-z, 0-9 and _, the first no digit`, fits: matching(`[a-z_][a-z0-9_]{0,62}`)},
	{words: `1 to 64 of a-z, 0-9, _ and -, the first a letter or digit`, fits: matching(validTenant.String())},
	{words: `64 hexadecimal digits, with or without colons, or nothing`, fits: func(v reflect.Value, _ []string) bool {
		return validFingerprint.MatchString(strings.ReplaceAll(v.String(), ":", ""))
	}},
	{words: `extensions in lower case, as \.odt`, fits: matching(`\.[a-z0-9_+-]+`)},
	{words: `names of indexes, \* for any characters`, fits: func(v reflect.Value, _ []string) bool {
		return access.ValidIndexes(v.String())
	}},
}

func schemes(accepted ...string) func(reflect.Value, []string) bool {
	return func(v reflect.Value, _ []string) bool { return hasScheme(v.String(), accepted...) }
}

func matching(pattern string) func(reflect.Value, []string) bool {
	whole := regexp.MustCompile("^(?:" + pattern + ")$")
	return func(v reflect.Value, _ []string) bool { return whole.MatchString(v.String()) }
}

// numberOf reads a bound as the setting is read.
func numberOf(text string, as reflect.Type) reflect.Value {
	number := reflect.New(as).Elem()
	switch as {
	case reflect.TypeFor[time.Duration]():
		d, _ := time.ParseDuration(text)
		number.SetInt(int64(d))
	case reflect.TypeFor[Size]():
		size, _ := parseSize(text)
		number.SetInt(int64(size))
	case reflect.TypeFor[float64]():
		f, _ := strconv.ParseFloat(text, 64)
		number.SetFloat(f)
	default:
		n, _ := strconv.ParseInt(text, 10, 64)
		number.SetInt(n)
	}
	return number
}

// compare is negative for a below b, and for non-numbers.
func compare(a, b reflect.Value) int {
	if a.CanFloat() {
		return cmp.Compare(a.Float(), b.Float())
	}
	return cmp.Compare(a.Int(), b.Int())
}

var compiled = func() []*regexp.Regexp {
	all := make([]*regexp.Regexp, len(forms))
	for i, f := range forms {
		all[i] = regexp.MustCompile("^(?:" + f.words + ")$")
	}
	return all
}()

// formOf is the form that a setting's words name; ok is false where they name none, as they are checked elsewhere.
func formOf(words string) (f form, said []string, ok bool) {
	for i := range forms {
		if said = compiled[i].FindStringSubmatch(words); said != nil {
			return forms[i], said, true
		}
	}
	return form{}, nil, false
}

// checkForms checks each setting of a group by its form. A default, or a missing value, is fine; entries of lists and
// maps are groups of their own, which the caller completes first.
func (p *problems) checkForms(prefix string, group, usual reflect.Value) {
	for i := range group.NumField() {
		field, value, ordinary := group.Type().Field(i), group.Field(i), usual.Field(i)
		key := prefix + field.Tag.Get("yaml")
		_, entries := entryType(field.Type)
		switch {
		case field.Anonymous:
			p.checkForms(prefix, value, ordinary)
		case field.Type.Kind() == reflect.Struct:
			p.checkForms(key+".", value, ordinary)
		case entries, reflect.DeepEqual(value.Interface(), ordinary.Interface()):
		default:
			p.checkForm(key, whatAccepts(field), value)
		}
	}
}

func (p *problems) checkForm(key, words string, value reflect.Value) {
	f, said, ok := formOf(words)
	if !ok {
		return
	}
	items := []reflect.Value{value}
	if value.Kind() == reflect.Slice {
		items = make([]reflect.Value, value.Len())
		for i := range items {
			items[i] = value.Index(i)
		}
	}
	for i, item := range items {
		if f.fits(item, said) {
			continue
		}
		at, shown := key, item.Interface()
		if value.Kind() == reflect.Slice && strings.Contains(key, "[") { // in an entry, which is written by hand
			at = fmt.Sprintf("%s[%d]", key, i)
		}
		if f.show != nil {
			shown = f.show(item.String())
		}
		p.want(false, at, shown)
	}
}

// entry checks one entry of a list or map, in which nothing has to be set.
func (p *problems) entry(prefix string, entry any) {
	group := reflect.ValueOf(entry)
	p.checkForms(prefix, group, reflect.Zero(group.Type()))
}
