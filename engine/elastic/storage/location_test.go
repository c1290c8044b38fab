package storage

import (
	"reflect"
	"testing"
	"time"

	"github.com/hybridge-search/hybridge/engine"
)

// TestSameSeesEveryMember fails for a new member of a knowledge base that same ignores.
func TestSameSeesEveryMember(t *testing.T) {
	plain := engine.KnowledgeBase{Attach: &engine.Attachment{}}
	f := func(name string, change func(kb *engine.KnowledgeBase)) {
		t.Helper()
		made := func() *engine.KnowledgeBase {
			kb := engine.KnowledgeBase{Attach: &engine.Attachment{}}
			change(&kb)
			return &kb
		}
		if !same(made(), made()) || same(made(), &plain) {
			t.Errorf("%s is not compared", name)
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[engine.KnowledgeBase]()) {
		if field.Anonymous {
			continue
		}
		f(field.Name, func(kb *engine.KnowledgeBase) { fill(reflect.ValueOf(kb).Elem().FieldByIndex(field.Index)) })
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[engine.Attachment]()) {
		f(field.Name, func(kb *engine.KnowledgeBase) { fill(reflect.ValueOf(kb.Attach).Elem().FieldByIndex(field.Index)) })
	}
}

// fill returns a value of any type that differs from the one in TestSameSeesEveryMember.
func fill(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // what there is
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(2)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem)
		m.SetMapIndex(reflect.ValueOf("a"), elem)
		v.Set(m)
	case reflect.Pointer:
		v.SetZero()
	default:
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	}
}
