{{/* Name of every object: that of the release, with the name of the chart if it lacks it. */}}
{{- define "switchyard.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which Deployment and Service find the pods; they never change. */}}
{{- define "switchyard.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of every object. */}}
{{- define "switchyard.labels" -}}
{{ include "switchyard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Port that the pods listen on, from the configuration file. */}}
{{- define "switchyard.port" -}}
{{- $config := fromYaml .Values.config -}}
{{- with $config.Error }}{{ fail (printf "config is no YAML: %s" .) }}{{ end -}}
{{- $server := $config.server | default dict -}}
{{- if not (has $server.host (list "0.0.0.0" "::")) -}}
{{- fail "config: set server.host to 0.0.0.0, because clients call the address of the pod" -}}
{{- end -}}
{{- $port := kindIs "invalid" $server.port | ternary 8080 $server.port | int -}}
{{- if not (and (ge $port 1) (le $port 65535)) -}}
{{- fail "config: server.port must be a number, because the pods name it" -}}
{{- end -}}
{{- $port -}}
{{- end -}}

{{/* Name of the ServiceAccount of the pods; empty for the usual one of the namespace. */}}
{{- define "switchyard.serviceAccount" -}}
{{- $account := .Values.serviceAccount -}}
{{- if $account.create -}}
{{- $account.name | default (include "switchyard.fullname" .) -}}
{{- else -}}
{{- if $account.annotations }}{{ fail "serviceAccount.annotations need serviceAccount.create" }}{{ end -}}
{{- $account.name -}}
{{- end -}}
{{- end -}}
