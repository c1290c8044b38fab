package locale

import (
	"reflect"
	"sync"
)

// tag marks a member of an answer that is a text for its reader: `locale:"text"`. It is
// a string, or a value of JSON in which strings are.
const tag = "locale"

// Answer gives an answer with its texts in the language. The answer itself is not
// changed: parts of it may be shared.
func (l *Language) Answer(answer any) any {
	if l == nil || answer == nil || !hasTexts(reflect.TypeOf(answer)) {
		return answer
	}
	return l.answer(reflect.ValueOf(answer)).Interface()
}

func (l *Language) answer(v reflect.Value) reflect.Value {
	switch v.Kind() { //nolint:exhaustive // those that hasTexts looks into
	case reflect.Pointer:
		if v.IsNil() {
			return v
		}
		made := reflect.New(v.Type().Elem())
		made.Elem().Set(l.answer(v.Elem()))
		return made
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		made := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			made.Index(i).Set(l.answer(v.Index(i)))
		}
		return made
	case reflect.Struct:
		made := reflect.New(v.Type()).Elem()
		made.Set(v)
		for i := range v.NumField() {
			switch field := v.Type().Field(i); {
			case field.Tag.Get(tag) != "":
				made.Field(i).Set(l.member(v.Field(i)))
			case field.IsExported() && hasTexts(field.Type):
				made.Field(i).Set(l.answer(v.Field(i)))
			}
		}
		return made
	default:
		return v
	}
}

// member translates a string, and the strings in a value of JSON.
func (l *Language) member(v reflect.Value) reflect.Value {
	switch v.Kind() { //nolint:exhaustive // the kinds of members that are tagged
	case reflect.String:
		return reflect.ValueOf(l.Text(v.String())).Convert(v.Type())
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		made := reflect.MakeMapWithSize(v.Type(), v.Len())
		for members := v.MapRange(); members.Next(); {
			made.SetMapIndex(members.Key(), l.member(members.Value()))
		}
		return made
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return l.member(v.Elem())
	default:
		return v
	}
}

// known remembers which types have texts.
var known sync.Map

// hasTexts reports whether values of a type have members that are texts.
func hasTexts(t reflect.Type) bool {
	if found, ok := known.Load(t); ok {
		return found.(bool)
	}
	found := lookForTexts(t, map[reflect.Type]bool{})
	known.Store(t, found)
	return found
}

func lookForTexts(t reflect.Type, seen map[reflect.Type]bool) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] {
		return false
	}
	seen[t] = true
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Tag.Get(tag) != "" || field.IsExported() && lookForTexts(field.Type, seen) {
			return true
		}
	}
	return false
}
