{{- define "faircopy.name" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride }}
{{- else if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "faircopy.changelog" -}}
{{ .Values.topics.changelog | default (printf "%s-changelog" .Values.kafka.group) }}
{{- end }}

{{- /* The Secret with the admin port's token: the user's, or the chart's. */}}
{{- define "faircopy.tokenSecret" -}}
{{ .Values.admin.tokenSecret | default (printf "%s-admin" (include "faircopy.name" .)) }}
{{- end }}

{{- define "faircopy.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "faircopy.labels" -}}
{{ include "faircopy.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "faircopy.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- if and .Values.gpu.enabled .Values.gpu.tag }}{{ $tag = .Values.gpu.tag }}{{ end }}
{{- if .Values.image.digest }}{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}{{ printf "%s:%s" .Values.image.repository $tag }}
{{- end }}
{{- end }}

{{- define "faircopy.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "faircopy.name" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{- /* The port of an address or URL (.address), or a default (.otherwise). */}}
{{- define "faircopy.port" -}}
{{- regexFind "^([a-zA-Z0-9_]+://)?[^/]*" (.address | trim) | regexFind ":[0-9]+$" | trimPrefix ":" | default (.otherwise | toString) }}
{{- end }}

{{- /* The port of what gives tokens or credentials for signing in: the token endpoint, or AWS's STS. Empty: nobody is asked. */}}
{{- define "faircopy.signInPort" -}}
{{- with get .Values.kafka.properties "sasl.oauthbearer.token.endpoint.url" }}
{{- include "faircopy.port" (dict "address" . "otherwise" (ternary 443 80 (hasPrefix "https://" .))) }}
{{- else }}
{{- if eq (get .Values.kafka.properties "sasl.mechanism" | toString | upper) "AWS_MSK_IAM" }}443{{ end }}
{{- end }}
{{- end }}
