{{- define "quickapps.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "quickapps.selector" -}}
app.kubernetes.io/name: quickapps
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: web
{{- end }}

{{- define "quickapps.workerSelector" -}}
app.kubernetes.io/name: quickapps
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{- define "quickapps.labels" -}}
app.kubernetes.io/name: quickapps
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* What the servers, the workers and the migration have in common. */}}
{{- define "quickapps.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccount.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "quickapps.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: ALLOWED_HOSTS
    value: {{ .Values.domain | quote }}
  - name: PUBLIC_URL
    value: "https://{{ .Values.domain }}"
  - name: TRUSTED_PROXIES
    value: {{ .Values.trustedProxies | quote }}
  {{- range .Values.secret.keys }}
  - name: {{ . }}_FILE
    value: /run/secrets/quickapps/{{ . }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: secret
    mountPath: /run/secrets/quickapps
    readOnly: true
  - name: tmp
    mountPath: /tmp
{{- end }}

{{/* A worker answers the same probes as a server. */}}
{{- define "quickapps.probes" -}}
ports:
  - name: http
    containerPort: 8000
startupProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /healthz
    port: http
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet:
    path: /readyz
    port: http
  periodSeconds: 5
  timeoutSeconds: 5
{{- end }}

{{- define "quickapps.dataVolume" -}}
- name: data
  {{- if .Values.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ .Values.persistence.existingClaim | default (include "quickapps.name" .) }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}

{{- define "quickapps.volumes" -}}
- name: secret
  secret:
    secretName: {{ .Values.secret.name }}
    items:
      {{- range .Values.secret.keys }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
- name: tmp
  emptyDir: {}
{{- end }}
