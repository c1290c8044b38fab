package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/fault"
	"github.com/hybridge-search/hybridge/scoring"
)

// BoostFields gives the text legs of a plan the boosts of parts of the text: those of the request,
// else those of the preset, else those of the knowledge base.
func (p *Plan) BoostFields(kb *engine.KnowledgeBase) error {
	boosts, kept := p.Fields, kb.Parts()
	if boosts == nil {
		boosts = kb.Boosts
		if p.UsualFields != nil && kb.Attach == nil {
			boosts = maps.Clone(p.UsualFields)
			maps.DeleteFunc(boosts, func(part string, _ float64) bool { return !slices.Contains(kept, part) })
		}
	}
	if boosts == nil {
		return nil
	}
	for part, by := range boosts {
		if by != 1 && !slices.Contains(kept, part) {
			return lacksPart(kb, part)
		}
	}
	boosts = maps.Clone(boosts)
	maps.DeleteFunc(boosts, func(_ string, by float64) bool { return by == 1 })
	p.Fields = nil
	if len(boosts) == 0 {
		return nil
	}
	p.Fields = boosts
	for i := range p.Legs {
		if l := &p.Legs[i]; l.Kind == scoring.Text && l.Field == engine.FieldText {
			l.Boosts = boostsOf(boosts)
		}
	}
	return nil
}

func lacksPart(kb *engine.KnowledgeBase, part string) error {
	has := "none of its parts"
	if kept := kb.Parts(); len(kept) > 0 {
		has = strings.Join(kept, ", ")
	}
	return &fault.Error{
		Kind: fault.InvalidArgument, Field: "fields." + part,
		Detail: fmt.Sprintf("knowledge base %s does not index %s by itself; it has %s (a new one with fields does)",
			kb.ID, part, has),
	}
}

// boostsOf are in the order of the parts.
func boostsOf(boosts map[string]float64) []engine.Boost {
	var list []engine.Boost
	for _, part := range engine.Parts() {
		if by, boosted := boosts[part]; boosted {
			list = append(list, engine.Boost{Part: part, By: by})
		}
	}
	return list
}
