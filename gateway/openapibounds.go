package gateway

import (
	"math"

	"github.com/danielgtaylor/huma/v2"
)

// valueBounds are those of the values of members that are maps or lists, which tags cannot say.
var valueBounds = map[string][2]float64{
	"weights": {0, 1e9}, "boosts": {0, 100}, "fields": {1, 100}, "relevant": {0, 1e9}, "interval": {-1, 1},
	"thresholds": {0, 1}, "coefficients": {-100, 100},
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
		boundValue(name, schema.Items)
		boundNumber(name, schema.Items)
	case huma.TypeObject:
		values, are := schema.AdditionalProperties.(*huma.Schema)
		if !are {
			return
		}
		boundValue(name, values)
		boundNumber(name, values)
	}
}

// boundValue gives a value of a member its bounds, where it is a number.
func boundValue(name string, value *huma.Schema) {
	limits, known := valueBounds[name]
	if known && value.Minimum == nil && (value.Type == huma.TypeNumber || value.Type == huma.TypeInteger) {
		value.Minimum, value.Maximum = &limits[0], &limits[1]
	}
}
