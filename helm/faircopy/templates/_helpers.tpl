{{- define "faircopy.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
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
{{- printf "%s:%s" .Values.image.repository $tag }}
{{- end }}

{{- /* What no schema can say: values against each other. */}}
{{- define "faircopy.check" -}}
{{- if le (mul 1000 .Values.terminationGracePeriodSeconds | int64) (add .Values.drainDeadlineMs 5000 | int64) }}
{{- fail (printf "terminationGracePeriodSeconds = %v: expected more than drainDeadlineMs = %v ms and five seconds, or a kill cuts the drain short" .Values.terminationGracePeriodSeconds .Values.drainDeadlineMs) }}
{{- end }}
{{- if and .Values.keda.enabled .Values.autoscaling.enabled }}
{{- fail "keda.enabled and autoscaling.enabled: expected one of them; they would fight over the number of replicas" }}
{{- end }}
{{- if and .Values.admin.page (not .Values.admin.tokenSecret) }}
{{- fail "admin.page shows what is said in calls: expected admin.tokenSecret, a Secret with the key \"token\"" }}
{{- end }}
{{- if not .Values.kafka.brokers }}
{{- fail "kafka.brokers is empty: expected host:port, such as kafka-bootstrap:9092" }}
{{- end }}
{{- end }}

{{- /* The file holds what only users write; what the chart sets comes by the environment, which overrides it. */}}
{{- define "faircopy.settings" -}}
{{ .Values.settings }}
{{ .Values.profiles }}
{{- end }}

{{- define "faircopy.environment" -}}
{{- $set := dict
  "KAFKA__BROKERS" .Values.kafka.brokers
  "KAFKA__GROUP" .Values.kafka.group
  "TOPICS__RAW" .Values.topics.raw
  "TOPICS__FORMATTED" .Values.topics.formatted
  "TOPICS__PARTIAL" .Values.topics.partial
  "TOPICS__DEAD_LETTER" .Values.topics.deadLetter
  "TOPICS__CHANGELOG" .Values.topics.changelog
  "DELIVERY__DRAIN_DEADLINE_MS" .Values.drainDeadlineMs
  "ADMIN__LISTEN" (printf "0.0.0.0:%v" .Values.admin.port)
  "ADMIN__PAGE" .Values.admin.page
  "TELEMETRY__SAMPLED" .Values.telemetry.sampled
  "LOG__FORMAT" "json" }}
{{- with .Values.telemetry.otlp }}{{ $_ := set $set "TELEMETRY__OTLP" . }}{{ end }}
{{- if .Values.packs }}{{ $_ := set $set "FORMAT__PACK_DIRS" "/etc/faircopy/packs,grammars/packs" }}{{ end }}
{{- if .Values.gpu.enabled }}
{{- $_ := set $set "INFER__DEVICE" "cuda" }}
{{- $_ := set $set "INFER__MAX_BATCH_TOKENS" 16384 }}
{{- $_ := set $set "INFER__MAX_BATCH_ITEMS" 128 }}
{{- $_ := set $set "INFER__MAX_WAIT_US" 2000 }}
{{- end }}
{{- range $name, $value := .Values.kafka.properties }}
{{- $_ := set $set (printf "KAFKA__PROPERTIES__%s" ($name | upper | replace "." "_")) $value }}
{{- end }}
{{- range $name, $value := $set }}
- name: FAIRCOPY__{{ $name }}
  value: {{ if kindIs "float64" $value }}{{ if eq $value (floor $value) }}{{ $value | int64 | toString | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}{{ else }}{{ $value | toString | quote }}{{ end }}
{{- end }}
{{- range .Values.kafka.secretProperties }}
- name: FAIRCOPY__KAFKA__PROPERTIES__{{ .property | upper | replace "." "_" }}
  valueFrom: { secretKeyRef: { name: {{ .secret }}, key: {{ .key }} } }
{{- end }}
{{- if .Values.admin.tokenSecret }}
- name: FAIRCOPY__ADMIN__TOKEN
  valueFrom: { secretKeyRef: { name: {{ .Values.admin.tokenSecret }}, key: token } }
{{- end }}
{{- end }}

{{- define "faircopy.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "faircopy.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "faircopy.pod" -}}
metadata:
  labels:
    {{- include "faircopy.labels" . | nindent 4 }}
  annotations:
    # Not of profiles, files and packs: those are taken over without a restart. What comes by the environment changes the pod by itself.
    checksum/config: {{ .Values.settings | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "faircopy.name" . }}
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "faircopy.podSecurity" . | nindent 4 }}
  containers:
    - name: faircopy
      image: {{ include "faircopy.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [run, --config, /etc/faircopy/config/faircopy.toml]
      securityContext:
        {{- include "faircopy.security" . | nindent 8 }}
      env:
        - name: POD_NAME
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- if eq .Values.workload "StatefulSet" }}
        - name: FAIRCOPY__KAFKA__PROPERTIES__GROUP_INSTANCE_ID
          value: $(POD_NAME)
        {{- end }}
        {{- include "faircopy.environment" . | nindent 8 }}
      ports:
        - { name: admin, containerPort: {{ .Values.admin.port }} }
      startupProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /livez, port: admin }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /readyz, port: admin }
        periodSeconds: 5
        timeoutSeconds: 3
      resources:
        {{- $resources := deepCopy .Values.resources }}
        {{- if .Values.gpu.enabled }}
        {{- $_ := set $resources "limits" (merge (dict .Values.gpu.resource (.Values.gpu.count | toString)) ($resources.limits | default dict)) }}
        {{- end }}
        {{- toYaml $resources | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /etc/faircopy/config, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        {{- if .Values.files }}
        - { name: files, mountPath: /etc/faircopy/files, readOnly: true }
        {{- end }}
        {{- range $pack, $_ := .Values.packs }}
        - { name: pack-{{ $pack }}, mountPath: /etc/faircopy/packs/{{ $pack }}, readOnly: true }
        {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ include "faircopy.name" . }} }
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- if .Values.files }}
    - name: files
      configMap: { name: {{ include "faircopy.name" . }}-files }
    {{- end }}
    {{- range $pack, $_ := .Values.packs }}
    - name: pack-{{ $pack }}
      configMap: { name: {{ include "faircopy.name" $ }}-pack-{{ $pack }} }
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.affinity }}
  affinity:
    {{- toYaml .Values.affinity | nindent 4 }}
  {{- else }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "faircopy.selector" . | nindent 10 }}
  {{- end }}
{{- end }}
