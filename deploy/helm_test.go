// Package deploy checks the Helm chart with Helm's own engine and the types of the
// Kubernetes API. It is a separate module, so that their dependencies stay out of the
// product.
package deploy

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const (
	chartDir = "helm"
	smallest = "image: {tag: '1.0.0'}\nsecret: palaver\n"
	// everything enables every part of the chart.
	everything = smallest + `
api: {drainDelay: 40, autoscaling: {enabled: true}}
worker: {keda: {enabled: true, authentication: temporal}}
networkPolicy:
  enabled: true
  apiFrom: [{namespaceSelector: {matchLabels: {name: ingress}}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {name: monitoring}}}]
  egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8}}]}]
serviceMonitor: {enabled: true, labels: {release: prometheus}}
settings: {LOG_LEVEL: debug}
podAnnotations: {team: chat}
imagePullSecrets: [{name: registry}]
tolerations: [{key: chat, operator: Exists}]
nodeSelector: {disk: ssd}
`
)

func palaver(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	require.NoError(t, err)
	return c
}

// render renders the chart as helm template does. It returns the objects by "kind name".
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	c := palaver(t)
	given, err := chartutil.ReadValues([]byte(values))
	require.NoError(t, err)
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "chat", Namespace: "default", IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	objects := map[string]string{}
	for path, text := range files {
		if strings.HasSuffix(path, ".tpl") {
			continue
		}
		for _, document := range regexp.MustCompile(`(?m)^---\s*$`).Split(text, -1) {
			var head metav1.PartialObjectMetadata
			require.NoError(t, yaml.Unmarshal([]byte(document), &head), "%s\n%s", path, document)
			if head.Kind == "" {
				continue
			}
			key := head.Kind + " " + head.Name
			require.NotContains(t, objects, key)
			objects[key] = document
		}
	}
	return objects, nil
}

func rendered(t *testing.T, values string) map[string]string {
	t.Helper()
	objects, err := render(t, values)
	require.NoError(t, err)
	return objects
}

// read decodes an object into the type of the Kubernetes API. Unknown fields fail the test.
func read[T any](t *testing.T, objects map[string]string, key string) (object T) {
	t.Helper()
	require.Contains(t, objects, key)
	require.NoError(t, yaml.UnmarshalStrict([]byte(objects[key]), &object), key)
	return object
}

func TestChartPassesHelmLint(t *testing.T) {
	for _, values := range []string{smallest, everything} {
		given, err := chartutil.ReadValues([]byte(values))
		require.NoError(t, err)
		for _, m := range lint.AllWithKubeVersion(chartDir, given, "default", nil).Messages {
			require.Less(t, m.Severity, support.WarningSev, m.Error())
		}
	}
}

func TestEveryObjectIsValidForTheKubernetesAPI(t *testing.T) {
	values := map[string]string{"smallest": smallest, "everything": everything}
	files, err := filepath.Glob(chartDir + "/examples/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		values[path] = string(text)
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			objects := rendered(t, v)
			require.GreaterOrEqual(t, len(objects), 6)
			for key := range objects {
				switch kind, _, _ := strings.Cut(key, " "); kind {
				case "Deployment":
					read[appsv1.Deployment](t, objects, key)
				case "Service":
					read[corev1.Service](t, objects, key)
				case "Job":
					read[batchv1.Job](t, objects, key)
				case "PodDisruptionBudget":
					read[policyv1.PodDisruptionBudget](t, objects, key)
				case "HorizontalPodAutoscaler":
					read[autoscalingv2.HorizontalPodAutoscaler](t, objects, key)
				case "NetworkPolicy":
					read[networkingv1.NetworkPolicy](t, objects, key)
				case "ScaledObject", "ServiceMonitor": // custom resources: TestObjectsOfOperators reads them
				default:
					t.Errorf("no type for kind %s in this test", kind)
				}
			}
		})
	}
}

func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	for name, values := range map[string]string{
		"no secret":                        "image: {tag: '1'}",
		"no version":                       "secret: palaver",
		"latest":                           "secret: palaver\nimage: {tag: latest}",
		"latest of workers":                smallest + "worker: {image: {tag: latest}}",
		"not a digest":                     "secret: palaver\nimage: {digest: abc}",
		"an unknown value":                 smallest + "apis: {}",
		"an unknown nested value":          smallest + "api: {replica: 3}",
		"no replica":                       smallest + "api: {replicas: 0}",
		"a number as a setting":            smallest + "settings: {TURN_MAX_STEPS: 5}",
		"a secret as a setting":            smallest + "settings: {DATABASE_URL: 'postgres://x'}",
		"NATS credentials as a setting":    smallest + "settings: {NATS_CREDENTIALS: /run/user.creds}",
		"a path as a name of a Secret":     smallest + "nats: {credentialsSecret: run/user.creds}",
		"a setting that the chart decides": smallest + "settings: {PORT: '80'}",
		"no limit of memory":               smallest + "worker: {resources: {limits: {cpu: 1, memory: null}}}",
	} {
		_, err := render(t, values)
		require.Error(t, err, name)
	}
}

// Workers need the image with tesseract to read scanned pages; the API does not.
func TestWorkersMayHaveAnImageOfTheirOwn(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	for values, want := range map[string]string{
		"image: {tag: '1'}": "palaver:1",
		"image: {tag: '1'}\nworker: {image: {repository: r/ocr}}":                               "r/ocr:1",
		"image: {tag: '1'}\nworker: {image: {tag: 1-ocr}}":                                      "palaver:1-ocr",
		"image: {tag: '1'}\nworker: {image: {repository: r/ocr, digest: '" + digest + "'}}":     "r/ocr@" + digest,
		"image: {tag: '1', digest: '" + digest + "'}\nworker: {image: {repository: r/ocr}}":     "r/ocr:1",
		"image: {digest: '" + digest + "'}\nworker: {image: {repository: r/ocr, tag: 1.0.0}}":   "r/ocr:1.0.0",
		"image: {repository: r/palaver, digest: '" + digest + "'}\nworker: {image: {tag: '2'}}": "r/palaver:2",
	} {
		objects := rendered(t, values+"\nsecret: palaver\n")
		worker := read[appsv1.Deployment](t, objects, "Deployment chat-worker").Spec.Template.Spec.Containers[0].Image
		require.Equal(t, want, worker, values)
		given, err := chartutil.ReadValues([]byte(values))
		require.NoError(t, err)
		image := given["image"].(map[string]any)
		api := read[appsv1.Deployment](t, objects, "Deployment chat-api").Spec.Template.Spec.Containers[0].Image
		if image["digest"] != nil {
			require.Contains(t, api, "@"+digest)
		} else {
			require.Equal(t, "palaver:1", api)
		}
	}
}

// settings returns the names of all settings, as .env.example has them.
func settings(t *testing.T) (names []string) {
	example, err := os.ReadFile("../.env.example")
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^#([A-Z_]+)=|^# ([A-Z_]+)$`).FindAllStringSubmatch(string(example), -1) {
		names = append(names, line[1]+line[2])
	}
	return names
}

// A secret among the settings could be read in the Deployment.
func TestSettingsRefuseEverySecret(t *testing.T) {
	secret := regexp.MustCompile(`^([A-Z_]+_(KEY|SECRET|TOKEN)|DATABASE_URL|NATS_URL|NATS_CREDENTIALS|GOOGLE_SERVICE_ACCOUNT)$`)
	secrets := slices.DeleteFunc(settings(t), func(name string) bool { return !secret.MatchString(name) })
	require.Greater(t, len(secrets), 15)
	for _, name := range append(secrets, "TEMPORAL_API_KEY", "TEMPORAL_TLS_CLIENT_KEY_DATA") {
		_, err := render(t, smallest+"settings: {"+name+": something}")
		if name == "SUPABASE_ANON_KEY" { // public: browsers get it
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, name)
	}
}

// Every setting of the chart must be a setting of the program.
func TestSettingsOfTheChartAndItsExamplesExist(t *testing.T) {
	known := settings(t)
	for _, path := range []string{"values.yaml", "examples/temporal-cloud.yaml", "examples/supabase.yaml", "examples/synadia.yaml"} {
		text, err := os.ReadFile(filepath.Join(chartDir, path))
		require.NoError(t, err)
		var v struct{ Settings map[string]string }
		require.NoError(t, yaml.Unmarshal(text, &v))
		require.NotEmpty(t, v.Settings)
		for name := range v.Settings {
			require.Contains(t, known, name, path)
		}
	}
}

func TestRolesCanHaveSecretsOfTheirOwn(t *testing.T) {
	objects := rendered(t, smallest+"api: {secret: palaver-api}\nworker: {secret: palaver-worker}\n")
	for role, other := range map[string]string{"api": "worker", "worker": "api"} {
		var names []string
		for _, from := range read[appsv1.Deployment](t, objects, "Deployment chat-"+role).Spec.Template.Spec.Containers[0].EnvFrom {
			names = append(names, from.SecretRef.Name)
		}
		require.Equal(t, []string{"palaver", "palaver-" + role}, names)
		alone := rendered(t, smallest+other+": {secret: palaver-"+other+"}\n")
		require.Len(t, read[appsv1.Deployment](t, alone, "Deployment chat-"+role).Spec.Template.Spec.Containers[0].EnvFrom, 1)
	}
}

func TestPodsAreRestrictedProbedAndEndGracefully(t *testing.T) {
	objects := rendered(t, everything)
	selectors := map[string]bool{}
	for component, port := range map[string]string{"api": "http", "worker": "metrics"} {
		d := read[appsv1.Deployment](t, objects, "Deployment chat-"+component)
		require.Subset(t, d.Spec.Template.Labels, d.Spec.Selector.MatchLabels)
		selectors[metav1.FormatLabelSelector(d.Spec.Selector)] = true
		require.Nil(t, d.Spec.Replicas, "the autoscaler sets the replicas")
		require.Equal(t, 0, d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntValue())
		pod := d.Spec.Template.Spec
		c := pod.Containers[0]
		require.Equal(t, []string{component}, c.Args)
		restricted(t, pod)
		require.Equal(t, "/healthz", c.LivenessProbe.HTTPGet.Path)
		require.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
		for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			require.Equal(t, port, probe.HTTPGet.Port.StrVal)
		}
		require.Equal(t, port, c.Ports[0].Name)
		require.Equal(t, "palaver", c.EnvFrom[0].SecretRef.Name)
		require.Contains(t, c.Env, corev1.EnvVar{Name: "LOG_LEVEL", Value: "debug"})
		require.False(t, c.Resources.Limits.Memory().IsZero())
		b := read[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget chat-"+component)
		require.Equal(t, d.Spec.Selector, b.Spec.Selector)
	}
	require.Len(t, selectors, 2, "a Deployment selects its own pods only")
	api := read[appsv1.Deployment](t, objects, "Deployment chat-api").Spec.Template.Spec
	require.Contains(t, api.Containers[0].Env, corev1.EnvVar{Name: "DRAIN_DELAY", Value: "40s"})
	require.EqualValues(t, 55, *api.TerminationGracePeriodSeconds)
	s := read[corev1.Service](t, objects, "Service chat-api")
	require.Equal(t, api.Containers[0].Ports[0].Name, s.Spec.Ports[0].TargetPort.StrVal)
	require.Equal(t, "api", s.Spec.Selector["app.kubernetes.io/component"])
	fixed := read[appsv1.Deployment](t, rendered(t, smallest), "Deployment chat-worker")
	require.EqualValues(t, 2, *fixed.Spec.Replicas)
	job := read[batchv1.Job](t, objects, "Job chat-migrate")
	require.Equal(t, []string{"migrate"}, job.Spec.Template.Spec.Containers[0].Args)
	restricted(t, job.Spec.Template.Spec)
	require.Contains(t, job.Annotations["helm.sh/hook"], "pre-upgrade")
}

// restricted checks what the Pod Security Standard "restricted" requires, and more.
func restricted(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	require.True(t, *pod.SecurityContext.RunAsNonRoot)
	require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	require.False(t, *pod.AutomountServiceAccountToken)
	c := pod.Containers[0].SecurityContext
	require.False(t, *c.AllowPrivilegeEscalation)
	require.True(t, *c.ReadOnlyRootFilesystem)
	require.Equal(t, []corev1.Capability{"ALL"}, c.Capabilities.Drop)
}

func TestCredentialsOfNATSAreMountedFromTheirSecret(t *testing.T) {
	example, err := os.ReadFile(chartDir + "/examples/synadia.yaml")
	require.NoError(t, err)
	objects := rendered(t, string(example))
	for name, pod := range map[string]corev1.PodSpec{
		"api":     read[appsv1.Deployment](t, objects, "Deployment chat-api").Spec.Template.Spec,
		"worker":  read[appsv1.Deployment](t, objects, "Deployment chat-worker").Spec.Template.Spec,
		"migrate": read[batchv1.Job](t, objects, "Job chat-migrate").Spec.Template.Spec,
	} {
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Secret != nil })
		require.GreaterOrEqual(t, volume, 0, name)
		secret := pod.Volumes[volume]
		require.Equal(t, "palaver-nats", secret.Secret.SecretName, name)
		require.EqualValues(t, 0o440, *secret.Secret.DefaultMode, "only the group of the pod reads it")
		require.EqualValues(t, 65532, *pod.SecurityContext.FSGroup)
		c := pod.Containers[0]
		mount := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == secret.Name })
		require.GreaterOrEqual(t, mount, 0, name)
		require.True(t, c.VolumeMounts[mount].ReadOnly, name)
		require.Contains(t, c.Env, corev1.EnvVar{Name: "NATS_CREDENTIALS", Value: c.VolumeMounts[mount].MountPath + "/user.creds"}, name)
	}
	plain := rendered(t, smallest)
	require.NotContains(t, plain["Deployment chat-api"], "NATS_CREDENTIALS")
	require.NotContains(t, plain["Deployment chat-api"], "/run/nats")
	require.Contains(t, settings(t), "NATS_CREDENTIALS")
}

func TestNetworkPoliciesAllowOnlyThePeersOfTheValues(t *testing.T) {
	objects := rendered(t, everything)
	names := func(component string) (from []string) {
		p := read[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy chat-"+component)
		require.Equal(t, component, p.Spec.PodSelector.MatchLabels["app.kubernetes.io/component"])
		require.Len(t, p.Spec.PolicyTypes, 2)
		require.Len(t, p.Spec.Egress, 2, "DNS and the rule of the values")
		for _, peer := range p.Spec.Ingress[0].From {
			from = append(from, slices.Collect(maps.Values(peer.NamespaceSelector.MatchLabels))...)
		}
		return from
	}
	require.Equal(t, []string{"ingress", "monitoring"}, names("api"), "Prometheus also reads metrics from the API")
	require.Equal(t, []string{"monitoring"}, names("worker"))
	open := rendered(t, smallest+"networkPolicy: {metricsFrom: [{podSelector: {}}]}")
	require.Empty(t, read[networkingv1.NetworkPolicy](t, open, "NetworkPolicy chat-api").Spec.Ingress[0].From, "all peers are allowed")
	require.Contains(t, rendered(t, smallest), "NetworkPolicy chat-api", "by default")
	require.NotContains(t, rendered(t, smallest+"networkPolicy: {enabled: false}"), "NetworkPolicy chat-api")
}

// The types of these objects are not part of the Kubernetes API. The test declares the
// fields that the chart uses.
func TestObjectsOfOperators(t *testing.T) {
	objects := rendered(t, everything)
	type scaled struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			ScaleTargetRef                                   struct{ Name string } `json:"scaleTargetRef"`
			MinReplicaCount, MaxReplicaCount, CooldownPeriod int
			Triggers                                         []struct {
				Type              string
				Metadata          map[string]string
				AuthenticationRef struct{ Name string } `json:"authenticationRef"`
			}
		}
	}
	s := read[scaled](t, objects, "ScaledObject chat-worker")
	require.Equal(t, "chat-worker", s.Spec.ScaleTargetRef.Name)
	require.Equal(t, "temporal", s.Spec.Triggers[0].Type)
	require.Equal(t, "temporal", s.Spec.Triggers[0].AuthenticationRef.Name)
	queue, err := os.ReadFile("../workflows/names.go")
	require.NoError(t, err)
	require.Regexp(t, `TaskQueue +="`+s.Spec.Triggers[0].Metadata["taskQueue"]+`"`, strings.ReplaceAll(string(queue), "= \"", "=\""))
	require.Equal(t, "temporal-frontend.temporal.svc:7233", s.Spec.Triggers[0].Metadata["endpoint"])
	type monitor struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Selector  metav1.LabelSelector
			Endpoints []struct {
				Port, Path, Interval string
				Authorization        struct{ Credentials corev1.SecretKeySelector }
			}
		}
	}
	m := read[monitor](t, objects, "ServiceMonitor chat")
	require.Equal(t, "prometheus", m.Labels["release"])
	ports := map[string]bool{}
	for _, name := range []string{"Service chat-api", "Service chat-worker"} {
		service := read[corev1.Service](t, objects, name)
		require.Subset(t, service.Labels, m.Spec.Selector.MatchLabels)
		ports[service.Spec.Ports[0].Name] = true
	}
	for _, e := range m.Spec.Endpoints {
		require.True(t, ports[e.Port], e.Port)
		require.Equal(t, "METRICS_TOKEN", e.Authorization.Credentials.Key)
	}
	h := read[autoscalingv2.HorizontalPodAutoscaler](t, objects, "HorizontalPodAutoscaler chat-api")
	require.Equal(t, "chat-api", h.Spec.ScaleTargetRef.Name)
	require.Equal(t, "palaver_open_streams", h.Spec.Metrics[0].Pods.Metric.Name)
}
