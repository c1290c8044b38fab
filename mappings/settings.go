package mappings

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hybridge-search/hybridge/engine"
	"github.com/hybridge-search/hybridge/esquery"
)

// setting is one of an index that somebody may have changed so that searches find something else,
// or that requests fail. What is not listed is its owner's choice: replicas, how often the index is
// refreshed, caches, slow logs, where shards lie.
type setting struct {
	name   string // without index.; a dot at the end stands for all below it
	least  int    // a lower number is wrong
	value  string // this one is wrong; empty: any but the default
	usual  string // what is right: Elasticsearch's default, but for the refresh interval
	writes bool   // it matters to writes alone
	static bool   // it cannot be changed while the index is open
	reason string
}

// pipelines says what one of somebody's does.
const pipelines = "chunks are changed while they are written, or cannot be written"

// watched are the settings that matter, at the defaults of Elasticsearch.
//
// https://www.elastic.co/guide/en/elasticsearch/reference/8.19/index-modules.html
var watched = []setting{
	{name: "max_result_window", least: 10_000, reason: "searches and listings that want more hits fail"},
	{name: "max_terms_count", least: 65_536, reason: "filters and reads by more ids or values fail"},
	{name: "max_docvalue_fields_search", least: 100, reason: "searches that read more fields fail"},
	{name: "highlight.max_analyzed_offset", least: 1_000_000, reason: "searches that mark words in a longer text fail"},
	{name: "max_slices_per_scroll", least: 1024, reason: "copies in more slices fail"},
	{name: "similarity.", static: true, reason: "texts are scored by another formula"},
	{name: "blocks.read", value: "true", reason: "nothing can be searched"},
	{name: "blocks.metadata", value: "true", reason: "the gateway cannot look at the index, and so uses it no more"},
	{name: "blocks.read_only", value: "true", writes: true, reason: "nothing can be written or changed"},
	{name: "blocks.write", value: "true", writes: true, reason: "nothing can be written"},
	{name: "default_pipeline", usual: "_none", writes: true, reason: pipelines},
	{name: "final_pipeline", usual: "_none", writes: true, reason: pipelines},
	{name: "refresh_interval", value: "-1", usual: refreshInterval, writes: true, reason: "what is written is not found"},
	{
		name: "write.wait_for_active_shards", usual: "1", writes: true,
		reason: "writes wait for shards that may not be there",
	},
	{name: "mapping.total_fields.limit", least: 1000, writes: true, reason: "fields cannot be added"},
	{
		name: "mapping.ignore_malformed", usual: "false", writes: true, static: true,
		reason: "values that are not accepted get lost without an error",
	},
}

// wrong reports whether a value makes a difference.
func (s *setting) wrong(value string) bool {
	switch {
	case s.least > 0:
		n, err := strconv.Atoi(value)
		return err == nil && n < s.least
	case s.value != "" && strings.HasPrefix(s.value, "-"):
		return strings.HasPrefix(value, "-") // -1 may be written with a unit
	case s.value != "":
		return value == s.value
	default:
		return value != s.usual
	}
}

// SettingsDrift compares the settings of a live index, as GET /index answers it, with what the gateway
// needs; the limits are Elasticsearch's own. readOnly leaves out what matters to writes alone.
func SettingsDrift(live json.RawMessage, readOnly bool) ([]engine.MappingChange, error) {
	all, err := settingsOf(live)
	if err != nil {
		return nil, err
	}
	var found []engine.MappingChange
	for path, value := range all {
		if c, ok := settingChange(path, value); ok && (!readOnly || !c.writes) {
			found = append(found, c.MappingChange)
		}
	}
	slices.SortFunc(found, func(a, b engine.MappingChange) int { return strings.Compare(a.Path, b.Path) })
	return found, nil
}

type settingDrift struct {
	judgedChange
	writes bool
}

// settingChange judges the value of a setting.
func settingChange(path string, live json.RawMessage) (settingDrift, bool) {
	name := strings.TrimPrefix(path, settingsPath)
	if name == "blocks.read_only_allow_delete" && text(live) == "true" {
		c := verdict{engine.ChangeConflict, "", "read_only", "the index is read-only: " + esquery.ReadOnlyWayOut}.
			of(engine.MappingChange{Path: path, Live: live})
		return settingDrift{c, true}, true
	}
	for i := range watched {
		s := &watched[i]
		within := strings.HasSuffix(s.name, ".") && strings.HasPrefix(name, s.name)
		if s.name != name && !within || !s.wrong(text(live)) {
			continue
		}
		v := verdict{engine.ChangeInPlace, "", "setting", s.reason}
		if s.static {
			v.class, v.copy = engine.ChangeReindex, engine.CopyReindex
		}
		return settingDrift{v.of(engine.MappingChange{Path: path, Live: live, Desired: s.desired()}), s.writes}, true
	}
	return settingDrift{}, false
}

// desired is the default as a value; nil where it is not one number or word.
func (s *setting) desired() json.RawMessage {
	if s.least > 0 {
		return engine.Quoted(strconv.Itoa(s.least))
	}
	if s.usual != "" {
		return engine.Quoted(s.usual)
	}
	return nil
}

// Resets are the settings that mend the changes that can be made in place: nil for Elasticsearch's default.
func Resets(changes []engine.MappingChange) map[string]any {
	all := map[string]any{}
	for i := range changes {
		name, is := strings.CutPrefix(changes[i].Path, "settings.")
		switch {
		case !is || changes[i].Class != engine.ChangeInPlace:
		case changes[i].Path == settingsPath+"refresh_interval": // its default also depends on who searches
			all[name] = refreshInterval
		default:
			all[name] = nil
		}
	}
	return all
}

// BlockedFromReading is the change of an index that nobody may look at: it is not known what else there is.
func BlockedFromReading() engine.MappingChange {
	c, _ := settingChange(settingsPath+"blocks.metadata", json.RawMessage(`"true"`))
	return c.MappingChange
}

// settingsOf flattens the settings of a live index.
func settingsOf(live json.RawMessage) (map[string]json.RawMessage, error) {
	var index struct {
		Settings struct {
			Index json.RawMessage `json:"index"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(live, &index); err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	flattenInto(all, strings.TrimSuffix(settingsPath, "."), index.Settings.Index)
	return all, nil
}
