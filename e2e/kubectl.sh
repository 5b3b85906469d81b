#!/usr/bin/env bash
# kubectl, unmodified, against the embedded API server; KUBECONFIG says where it is.
set -o errexit -o nounset -o pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A discovery cache of its own, so that nothing of another server is believed.
kubectl() { command kubectl --cache-dir "$folder/cache" "$@"; }
minor=$(kubectl version -o json | sed -n '/clientVersion/,/}/s/.*"minor": "\([0-9]*\).*/\1/p')
passed=0
if [ "$minor" -lt 24 ]; then
  echo "FAILED: kubectl 1.$minor is too old for these checks, which need 1.24 or later" >&2
  exit 1
fi

# kustomize is part of kubectl: it builds what the installer of the same deployment has.
for installer in testdata/cases/deploy/expected/dist/install.yaml examples/*/dist/install.yaml; do
  [ -f "$installer" ] || continue
  tree=${installer%dist/install.yaml}config
  built=$(kubectl kustomize "$tree/default" | grep '^kind: ' | sort)
  if [ "$built" != "$(grep '^kind: ' "$installer" | sort)" ]; then
    echo "FAILED: kubectl kustomize $tree/default differs from $installer" >&2
    exit 1
  fi
  for layer in "$tree"/*/; do
    kubectl kustomize "$layer" >/dev/null
  done
done

# prints TITLE PATTERN COMMAND...: the command succeeds and prints what the extended regular expression describes.
prints() {
  local title=$1 pattern=$2 out
  shift 2
  if ! out=$("$@" 2>&1) || ! grep -Eq -- "$pattern" <<<"$out"; then
    printf 'FAILED: %s\n  command: %s\n  expected: %s\n  printed: %s\n' "$title" "$*" "$pattern" "$out" >&2
    exit 1
  fi
  passed=$((passed + 1))
}

# refuses TITLE PATTERN COMMAND...: the command fails with such a text.
refuses() {
  local title=$1 pattern=$2 out
  shift 2
  if out=$("$@" 2>&1) || ! grep -Eq -- "$pattern" <<<"$out"; then
    printf 'FAILED: %s\n  command: %s\n  expected: %s\n  printed: %s\n' "$title" "$*" "$pattern" "$out" >&2
    exit 1
  fi
  passed=$((passed + 1))
}

# shirt NAME COLOR [EXTRA]: a manifest.
shirt() {
  printf 'apiVersion: shop.example.com/v1\nkind: Shirt\nmetadata:\n  name: %s\n  labels: {app: kubectl}\nspec:\n  color: %s\n%s' \
    "$1" "$2" "${3:-}" >"$folder/$1.yaml"
  echo "$folder/$1.yaml"
}

prints "create namespace" "namespace/kubectl created" kubectl create namespace kubectl
kubectl() { command kubectl --cache-dir "$folder/cache" --namespace kubectl "$@"; }

# Discovery
prints "api-resources" "^shirts +sh +shop.example.com/v1 +true +Shirt" kubectl api-resources
prints "api-resources by category" "^shirts" kubectl api-resources --categories=wardrobe
prints "api-versions" "^shop.example.com/v1beta1" kubectl api-versions
prints "version" "v1\.[0-9]+" kubectl version
prints "explain of a custom kind" "holes" kubectl explain shirt.spec.buttons
prints "explain of a built-in kind" "containers" kubectl explain pod.spec
prints "crd" "shirts.shop.example.com" kubectl get crd
prints "raw paths" '"kind":"ShirtList"' kubectl get --raw /apis/shop.example.com/v1/shirts

# Apply, get, diff
prints "client-side apply creates" "shirt.*/plain created" kubectl apply -f "$(shirt plain blue)"
prints "client-side apply is idempotent" "shirt.*/plain unchanged" kubectl apply -f "$(shirt plain blue)"
prints "columns" "^plain +blue" kubectl get shirts
prints "wide columns" "NOTE" kubectl get sh -o wide
prints "jsonpath" "^1$" kubectl get shirt plain -o 'jsonpath={.spec.replicas}'
prints "custom columns" "^plain +blue" kubectl get shirts -o custom-columns=N:.metadata.name,C:.spec.color
prints "name output" "^shirt.shop.example.com/plain$" kubectl get shirt plain -o name
prints "yaml output" "kubectl.kubernetes.io/last-applied-configuration" kubectl get shirt plain -o yaml
prints "an older version warns" "is deprecated" kubectl get shirts.v1beta1.shop.example.com
prints "label selector" "plain" kubectl get shirts -l app=kubectl
prints "field selector" "plain" kubectl get shirts --field-selector spec.color=blue
prints "field selector without hits" "No resources found" kubectl get shirts --field-selector spec.color=red
refuses "unknown field selector" "field label not supported" kubectl get shirts --field-selector spec.size=1
shirt plain green >/dev/null
refuses "diff finds a change" "^\+ +color: green" kubectl diff -f "$folder/plain.yaml"
prints "client-side apply changes" "configured" kubectl apply -f "$folder/plain.yaml"
prints "a manifest adds a field" "configured" kubectl apply -f "$(shirt plain green $'  note: x\n')"
prints "a field left out of the manifest goes" "configured" kubectl apply -f "$(shirt plain green)"
prints "the field is gone" "^$" kubectl get shirt plain -o 'jsonpath={.spec.note}'

# Server-side apply
prints "server-side apply" "serverside-applied" \
  kubectl apply --server-side --field-manager=tailor -f "$(shirt served blue)"
refuses "server-side apply conflicts" "conflict with \"tailor\"" \
  kubectl apply --server-side --field-manager=painter -f "$(shirt served red)"
prints "conflicts are forced" "serverside-applied" \
  kubectl apply --server-side --field-manager=painter --force-conflicts -f "$folder/served.yaml"
prints "managed fields" "manager: painter" kubectl get shirt served -o yaml --show-managed-fields

# Validation
refuses "schema" "spec.replicas in body should be greater than or equal to 0" \
  kubectl apply -f "$(shirt bad blue $'  replicas: -1\n')"
refuses "rules" "a shirt cannot fade away" kubectl patch shirt served --type merge -p '{"spec":{"color":"invisible"}}'
refuses "unknown fields" "unknown field" kubectl create -f "$(shirt odd blue $'  size: 1\n')"
printf '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"listed"}}]}' \
  >"$folder/list.json"
prints "lists are created" "configmap/listed created" kubectl create -f "$folder/list.json"
prints "lists are applied" "configmap/listed configured" kubectl apply -f "$folder/list.json"
prints "dry run" "dry run" kubectl create --dry-run=server -f "$(shirt dry blue)"
refuses "dry run leaves nothing" "NotFound" kubectl get shirt dry

# Patches, labels, scale
prints "merge patch" "patched" kubectl patch shirt plain --type merge -p '{"spec":{"note":"x"}}'
prints "json patch" "patched" kubectl patch shirt plain --type json -p '[{"op":"remove","path":"/spec/note"}]'
refuses "strategic merge patch" "strategic-merge-patch.json is not supported" kubectl patch shirt plain -p '{"spec":{"note":"x"}}'
prints "label" "labeled" kubectl label shirt plain size=xl
prints "annotate" "annotated" kubectl annotate shirt plain a=b
prints "scale" "scaled" kubectl scale shirt plain --replicas=3
prints "scaled" "^3$" kubectl get shirt plain -o 'jsonpath={.spec.replicas}'
prints "patch of a subresource" "patched" kubectl patch shirt plain \
  --subresource status --type merge -p '{"status":{"replicas":3,"conditions":[{"type":"Ready","status":"True"}]}}'
KUBE_EDITOR="sed -i s/green/black/" prints "edit" "edited" kubectl edit shirt plain
prints "describe" "Color: +black" kubectl describe shirt plain

# Watch and wait
prints "wait for a condition" "condition met" kubectl wait shirt/plain --for=condition=Ready --timeout=10s
prints "wait for a value" "condition met" kubectl wait shirt/plain --for='jsonpath={.spec.replicas}=3' --timeout=10s
kubectl get shirts -w --output-watch-events >"$folder/watch" 2>&1 &
watcher=$!
until grep -q "ADDED.*served" "$folder/watch"; do sleep 0.05; done
kubectl label shirt served seen=yes >/dev/null
kubectl delete shirt served --wait >/dev/null
until grep -q "DELETED.*served" "$folder/watch"; do sleep 0.05; done
kill "$watcher"
wait "$watcher" 2>/dev/null || true
prints "get -w" "MODIFIED +served" cat "$folder/watch"

# Built-in kinds
prints "create configmap" "created" kubectl create configmap settings --from-literal=a=1
prints "create secret" "created" kubectl create secret generic key --from-literal=a=1
prints "create service account" "created" kubectl create serviceaccount robot
prints "create role" "created" kubectl create role reader --verb=get --resource=pods
prints "create role binding" "created" kubectl create rolebinding readers --role=reader --serviceaccount=kubectl:robot
prints "create service" "created" kubectl create service clusterip web --tcp=80:8080
prints "services" "^web +ClusterIP +10\..* +80/TCP" kubectl get services
prints "config maps" "^settings +1 " kubectl get configmaps
prints "secrets" "^key +Opaque +1 " kubectl get secrets
prints "auth can-i" "yes" kubectl auth can-i create pods
prints "create deployment" "created" kubectl create deployment web --image=nginx --replicas=2
prints "rollout status" "successfully rolled out" kubectl rollout status deployment/web --timeout=20s
prints "pods of a deployment" "^web-[0-9a-z]+-[0-9a-z]{5} +1/1 +Running" kubectl get pods
prints "scale deployment" "scaled" kubectl scale deployment web --replicas=3
prints "scaled deployment" "deployment.apps/web condition met" \
  kubectl wait deployment/web --for='jsonpath={.status.readyReplicas}=3' --timeout=20s
prints "set image" "image updated" kubectl set image deployment/web nginx=nginx:2
prints "strategic merge patch of a built-in kind" "patched" kubectl patch deployment web \
  -p '{"spec":{"template":{"spec":{"containers":[{"name":"nginx","env":[{"name":"A","value":"1"}]}]}}}}'
prints "containers are merged by name" "^nginx:2$" \
  kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
prints "rollout restart" "restarted" kubectl rollout restart deployment/web
prints "rollout after a restart" "successfully rolled out" kubectl rollout status deployment/web --timeout=20s
prints "rollout history" "^3 " kubectl rollout history deployment/web
prints "rollout undo" "rolled back" kubectl rollout undo deployment/web --to-revision=1
prints "rollout after an undo" "successfully rolled out" kubectl rollout status deployment/web --timeout=20s
prints "the first image is back" "^nginx$" \
  kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
prints "get all" "deployment.apps/web +3/3" kubectl get all
prints "delete deployment" "deleted" kubectl delete deployment web --cascade=foreground
# Those that ran have their time to end.
kubectl wait --for=delete pods --all --timeout=60s >/dev/null 2>&1 || true
prints "its pods went along" "No resources found" kubectl get pods,replicasets
# The other workloads end as on a cluster, too.
prints "create job" "created" kubectl create job once --image=busybox
prints "a job is complete" "job.batch/once condition met" kubectl wait --for=condition=complete job/once --timeout=20s
prints "jobs" "^once +Complete +1/1" kubectl get jobs
cat >"$folder/workloads.yaml" <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i}]}}
YAML
prints "create workloads" "daemonset.apps/agent created" kubectl apply -f "$folder/workloads.yaml"
for workload in statefulset/db daemonset/agent; do
  prints "rollout of $workload" "roll.* complete|successfully rolled out" kubectl rollout status "$workload" --timeout=20s
  prints "restart of $workload" "restarted" kubectl rollout restart "$workload"
  prints "rollout of $workload after a restart" "roll.* complete|successfully rolled out" \
    kubectl rollout status "$workload" --timeout=20s
  prints "history of $workload" "^2 " kubectl rollout history "$workload"
done
prints "pods of a stateful set" "^db-1 +1/1 +Running" kubectl get pods
prints "endpoint slices" "^web-[a-z0-9]+ +IPv4 +8080 +10\.244\.[0-9.]+,10\.244\." kubectl get endpointslices
prints "delete workloads" "deleted" kubectl delete -f "$folder/workloads.yaml" --cascade=foreground
prints "delete job" "deleted" kubectl delete job once
prints "events" "No (resources|events) found|LAST SEEN" kubectl get events
prints "delete by label" "deleted" kubectl delete shirts -l app=kubectl
prints "delete namespace" "deleted" kubectl delete namespace kubectl --wait --timeout=30s
echo "kubectl 1.$minor: $passed steps passed"
