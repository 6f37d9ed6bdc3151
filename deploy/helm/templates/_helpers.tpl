{{- define "palaver.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "palaver.labels" -}}
{{ include "palaver.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* The selector of a Deployment can never change. */ -}}
{{- define "palaver.selector" -}}
app.kubernetes.io/name: palaver
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* "variant" replaces fields of the image; a digest belongs to one image alone. */ -}}
{{- define "palaver.image" -}}
{{- $v := .variant | default dict -}}
{{- $repository := $v.repository | default .Values.image.repository -}}
{{- $tag := $v.tag | default .Values.image.tag -}}
{{- $digest := ternary $v.digest .Values.image.digest (not (empty (coalesce $v.repository $v.tag $v.digest))) -}}
{{- if $digest -}}{{ $repository }}@{{ $digest }}
{{- else -}}{{ $repository }}:{{ required "image.tag or image.digest is needed" $tag }}
{{- end -}}
{{- end }}

{{- /* Fields that all pods have. */ -}}
{{- define "palaver.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: data # no lasting data: heartbeat files, and files that are being received or sent
    emptyDir: {sizeLimit: {{ .Values.temporaryStorage | quote }}}
  - name: tmp
    emptyDir: {sizeLimit: {{ .Values.temporaryStorage | quote }}}
{{- with .Values.nats.credentialsSecret }}
  - name: nats
    secret: {secretName: {{ . | quote }}, defaultMode: 0440}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "palaver.container" -}}
image: {{ include "palaver.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  - secretRef: {name: {{ .Values.secret | quote }}}
{{- with .own }}
  - secretRef: {name: {{ . | quote }}}
{{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- if .Values.nats.credentialsSecret }}
  - {name: nats, mountPath: /run/nats, readOnly: true}
{{- end }}
{{- end }}

{{- define "palaver.settings" -}}
{{- with .Values.nats }}
{{- if .credentialsSecret }}
- name: NATS_CREDENTIALS
  value: {{ printf "/run/nats/%s" .credentialsKey | quote }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "palaver.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "palaver.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- end }}
