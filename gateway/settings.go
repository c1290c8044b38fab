package gateway

import (
	"context"
	"net/http"

	"github.com/hybridge-search/hybridge/access"
	"github.com/hybridge-search/hybridge/access/keys"
	"github.com/hybridge-search/hybridge/gateway/endpoint"
)

// Setting is one of the configuration, as it is in force.
type Setting struct {
	Key      string `json:"key" doc:"As docs/configuration.md has it, such as embedding.url."`
	Value    string `json:"value" doc:"Lists and maps in JSON; secrets are masked."`
	Default  string `json:"default,omitempty"`
	Source   string `json:"source" enum:"default,file,environment,flag" doc:"Where the value came from."`
	Accept   string `json:"accept" locale:"text" doc:"What is accepted, in words."`
	About    string `json:"about" locale:"text" doc:"What it does."`
	Variable string `json:"variable" doc:"The environment variable that sets it."`
	Flag     string `json:"flag,omitempty" doc:"The flag of hybridge serve that sets it, without --."`
}

// Settings are all settings of a gateway.
type Settings struct {
	Settings []Setting `json:"settings" doc:"In the order of docs/configuration.md."`
	Version  string    `json:"version" doc:"Of the gateway."`
}

type settingService struct {
	api      *endpoint.API
	settings []Setting
	version  string
}

func (s *settingService) register() {
	endpoint.Register(s.api, endpoint.Route{
		Method: http.MethodGet, Path: "/v1/settings", Tag: "operation", Access: endpoint.Governs, Role: keys.Operate,
		ID: "list-settings", Summary: "The settings in force, and where each came from",
		About: "Of this gateway, read at its start. Secrets and passwords are masked, and of the keys of the configuration " +
			"only their number is told.",
	}, s.list)
}

func (s *settingService) list(_ context.Context, _ access.Scope, _ *struct{}) (*Settings, error) {
	return &Settings{Settings: append([]Setting{}, s.settings...), Version: s.version}, nil
}
