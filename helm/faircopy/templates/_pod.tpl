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

{{- /* Where a pod may run, and what it pulls its image with: workers and the topics' job alike. */}}
{{- define "faircopy.placement" -}}
automountServiceAccountToken: false
securityContext:
  {{- include "faircopy.podSecurity" . | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Of both kinds of pods: Secrets of sign-in, and the user's own. */}}
{{- define "faircopy.commonMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- $secrets := dict }}
{{- range (include "faircopy.secretFiles" . | fromYamlArray) }}{{ $_ := set $secrets .secret true }}{{ end }}
{{- range $secret, $_ := $secrets }}
- { name: {{ include "faircopy.secretVolume" $secret }}, mountPath: /etc/faircopy/secrets/{{ $secret }}, readOnly: true }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "faircopy.commonVolumes" -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- $secrets := dict }}
{{- range (include "faircopy.secretFiles" . | fromYamlArray) }}{{ $_ := set $secrets .secret (append (get $secrets .secret | default list) .key) }}{{ end }}
{{- range $secret, $keys := $secrets }}
- name: {{ include "faircopy.secretVolume" $secret }}
  secret:
    secretName: {{ $secret }}
    defaultMode: 0440
    items:
      {{- range ($keys | uniq) }}
      - { key: {{ . | quote }}, path: {{ . | quote }} }
      {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* A volume's name is a label: no dots, 63 letters. */}}
{{- define "faircopy.secretVolume" -}}
{{- printf "secret-%s" (. | replace "." "-" | trunc 47) | trimSuffix "-" }}-{{ . | sha256sum | trunc 8 }}
{{- end }}

{{- define "faircopy.commonEnv" -}}
{{- include "faircopy.environment" . }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "faircopy.pod" -}}
metadata:
  labels:
    {{- include "faircopy.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Not of profiles, files and packs: those are taken over without a restart. What comes by the environment changes the pod by itself.
    checksum/config: {{ .Values.settings | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "faircopy.serviceAccount" . }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- include "faircopy.placement" . | nindent 2 }}
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
        {{- include "faircopy.adminEnvironment" . | nindent 8 }}
        {{- include "faircopy.commonEnv" . | nindent 8 }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - { name: admin, containerPort: {{ .Values.admin.port }} }
        - { name: probes, containerPort: {{ .Values.admin.probePort }} }
      startupProbe:
        httpGet: { path: /livez, port: probes }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /livez, port: probes }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      readinessProbe:
        httpGet: { path: /readyz, port: probes }
        periodSeconds: 5
        timeoutSeconds: 3
      resources:
        {{- include "faircopy.resources" . | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /etc/faircopy/config, readOnly: true }
        {{- if .Values.files }}
        - { name: files, mountPath: /etc/faircopy/files, readOnly: true }
        {{- end }}
        {{- range $pack, $_ := .Values.packs }}
        - { name: pack-{{ $pack }}, mountPath: /etc/faircopy/packs/{{ $pack }}, readOnly: true }
        {{- end }}
        {{- range $pack, $from := .Values.packVolumes }}
        - { name: pack-{{ $pack }}, mountPath: /etc/faircopy/packs/{{ $pack }}, readOnly: true{{ with $from.subPath }}, subPath: {{ . | quote }}{{ end }} }
        {{- end }}
        {{- range $model, $from := .Values.models }}
        - { name: model-{{ $model }}, mountPath: /opt/faircopy/models/{{ $model }}, readOnly: true{{ with $from.subPath }}, subPath: {{ . | quote }}{{ end }} }
        {{- end }}
        {{- range $dir, $from := .Values.modelDirs }}
        - { name: models-{{ $dir }}, mountPath: /etc/faircopy/models/{{ $dir }}, readOnly: true{{ with $from.subPath }}, subPath: {{ . | quote }}{{ end }} }
        {{- end }}
        {{- include "faircopy.commonMounts" . | nindent 8 }}
  volumes:
    - name: config
      configMap: { name: {{ include "faircopy.name" . }} }
    {{- if .Values.files }}
    - name: files
      secret: { secretName: {{ include "faircopy.name" . }}-files, defaultMode: 0440 }
    {{- end }}
    {{- range $pack, $_ := .Values.packs }}
    - name: pack-{{ $pack }}
      secret: { secretName: {{ include "faircopy.name" $ }}-pack-{{ $pack }}, defaultMode: 0440 }
    {{- end }}
    {{- range $pack, $from := .Values.packVolumes }}
    - name: pack-{{ $pack }}
      {{- toYaml $from.volume | nindent 6 }}
    {{- end }}
    {{- range $model, $from := .Values.models }}
    - name: model-{{ $model }}
      {{- toYaml $from.volume | nindent 6 }}
    {{- end }}
    {{- range $dir, $from := .Values.modelDirs }}
    - name: models-{{ $dir }}
      {{- toYaml $from.volume | nindent 6 }}
    {{- end }}
    {{- include "faircopy.commonVolumes" . | nindent 4 }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- $selector := dict "matchLabels" (include "faircopy.selector" . | fromYaml) }}
    {{- $constraints := .Values.topologySpreadConstraints | default (list (dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway")) }}
    {{- range $constraints }}
    - {{ toYaml (ternary . (set (deepCopy .) "labelSelector" $selector) (hasKey . "labelSelector")) | nindent 6 | trim }}
    {{- end }}
{{- end }}
