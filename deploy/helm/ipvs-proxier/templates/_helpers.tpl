{{- define "ipvs-proxier.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name }}{{ end }}
{{- end }}

{{- define "ipvs-proxier.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ipvs-proxier.labels" -}}
{{ include "ipvs-proxier.selector" . }}
app.kubernetes.io/component: kube-proxy
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ipvs-proxier.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "ipvs-proxier.name" .) }}
{{- end }}

{{- define "ipvs-proxier.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* URL of the API server: as given, else what kubeadm wrote down in the cluster. Never Service "kubernetes", which nobody serves yet. */}}
{{- define "ipvs-proxier.apiServer" -}}
{{- if .Values.apiServer.host -}}
{{- $host := .Values.apiServer.host -}}
{{- $kubernetes := lookup "v1" "Service" "default" "kubernetes" | default dict -}}
{{- if has $host (dig "spec" "clusterIPs" (list) $kubernetes) -}}
{{- fail (printf "apiServer.host is %s, the cluster address of Service kubernetes, which nobody serves before this chart does" $host) -}}
{{- end -}}
https://{{ if contains ":" $host }}[{{ $host }}]{{ else }}{{ $host }}{{ end }}:{{ .Values.apiServer.port }}
{{- else -}}
{{- $proxy := dig "data" "kubeconfig.conf" "" (lookup "v1" "ConfigMap" "kube-system" "kube-proxy" | default dict) -}}
{{- $info := dig "data" "kubeconfig" "" (lookup "v1" "ConfigMap" "kube-public" "cluster-info" | default dict) -}}
{{- $found := regexFind "https://[^\"[:space:]]+" ($proxy | default $info) -}}
{{- required "apiServer.host is needed: the cluster has neither ConfigMap kube-system/kube-proxy nor kube-public/cluster-info" $found -}}
{{- end -}}
{{- end }}

{{- define "ipvs-proxier.config" -}}
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
{{ omit .Values.config "apiVersion" "kind" "clientConnection" "hostnameOverride" | toYaml }}
---
apiVersion: ipvs-proxier.dev/v1alpha1
kind: IPVSProxierConfiguration
{{- with .Values.apiServer.others }}
apiServers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.proxierConfig }}
{{ toYaml . }}
{{- end }}
{{- end }}
