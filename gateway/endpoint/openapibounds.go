package endpoint

import (
	"math"

	"github.com/danielgtaylor/huma/v2"
)

// boundNumbers gives bounds to numbers without tags: to the values of maps, to single-precision numbers,
// as in vectors, and to counts.
func (d *Document) boundNumbers(details Details) {
	for _, schema := range d.Components.Schemas.Map() {
		for name, member := range schema.Properties {
			details.boundNumber(name, member)
		}
	}
}

func (d *Details) boundNumber(name string, schema *huma.Schema) {
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
		if !d.Signed[name] && !bounded {
			schema.Minimum = new(0.0)
		}
	case huma.TypeArray:
		d.boundValue(name, schema.Items)
		d.boundNumber(name, schema.Items)
	case huma.TypeObject:
		values, are := schema.AdditionalProperties.(*huma.Schema)
		if !are {
			return
		}
		d.boundValue(name, values)
		d.boundNumber(name, values)
	}
}

// boundValue gives a value of a member its bounds, where it is a number.
func (d *Details) boundValue(name string, value *huma.Schema) {
	limits, known := d.Values[name]
	if known && value.Minimum == nil && (value.Type == huma.TypeNumber || value.Type == huma.TypeInteger) {
		value.Minimum, value.Maximum = &limits[0], &limits[1]
	}
}
