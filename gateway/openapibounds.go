package gateway

import (
	"math"

	"github.com/danielgtaylor/huma/v2"
)

// valueBounds are those of the values of members that are maps, which tags cannot say.
var valueBounds = map[string][2]float64{
	"weights": {0, 1e9}, "boosts": {0, 100}, "fields": {1, 100}, "relevant": {0, 1e9},
}

// signed are whole numbers that may be less than 0; all others count something.
var signed = map[string]bool{"distance": true, "moved": true, "code": true, "error_code": true}

// boundNumbers gives bounds to numbers without tags: to the values of maps, to single-precision numbers,
// which vectors have, and to what counts.
func (s *Server) boundNumbers() {
	for _, schema := range s.openapi.Components.Schemas.Map() {
		for name, member := range schema.Properties {
			boundNumber(name, member)
		}
	}
}

func boundNumber(name string, schema *huma.Schema) {
	if schema == nil {
		return
	}
	bounded := schema.Minimum != nil || schema.ExclusiveMinimum != nil || schema.Maximum != nil
	switch schema.Type {
	case huma.TypeNumber:
		if schema.Format == "float" && !bounded {
			schema.Minimum, schema.Maximum = new(-float64(math.MaxFloat32)), new(float64(math.MaxFloat32))
		}
	case huma.TypeInteger:
		if !signed[name] && !bounded {
			schema.Minimum = new(0.0)
		}
	case huma.TypeArray:
		boundNumber(name, schema.Items)
	case huma.TypeObject:
		values, are := schema.AdditionalProperties.(*huma.Schema)
		if !are {
			return
		}
		if limits, known := valueBounds[name]; known && values.Minimum == nil {
			values.Minimum, values.Maximum = &limits[0], &limits[1]
		}
		boundNumber(name, values)
	}
}
