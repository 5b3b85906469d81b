#!/usr/bin/env python3
"""Sends the same random requests to two servers and prints the answers that differ, grouped by cause.

differential.py OURS REAL [--seed N] [--count N] [--only AREA] [--token OURS,REAL] [--show N]

OURS and REAL are the URLs of an embedded server and of kube-apiserver, both freshly started. A seed always gives the same
requests. What two runs of one server would not repeat is masked: uids, times, resource versions, tokens and addresses.
"""
import argparse, base64, collections, concurrent.futures, copy, http.client, json, random, re, ssl, sys, time, urllib.parse

JSON, MERGE, PATCH, SMP, APPLY = ('application/' + t for t in (
    'json', 'merge-patch+json', 'json-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'))
NS = '/api/v1/namespaces/diff'
CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

# ---- servers and answers

class Server:
    def __init__(self, url, token):
        self.url, self.token, self.vars = urllib.parse.urlparse(url), token, {}

    def fill(self, text):
        """Replaces $NAME by what this server has answered before."""
        return re.sub(r'\$([A-Z]+)', lambda m: str(self.vars.get(m[1], '7')), text)

    def send(self, r):
        kind = http.client.HTTPSConnection if self.url.scheme == 'https' else http.client.HTTPConnection
        tls = {'context': ssl._create_unverified_context()} if self.url.scheme == 'https' else {}
        connection = kind(self.url.hostname, self.url.port, timeout=20, **tls)
        headers = {'Accept': r.accept, 'User-Agent': 'differential/1'}
        if self.token: headers['Authorization'] = 'Bearer ' + self.token
        body = r.body
        if body is not None:
            headers['Content-Type'] = r.content
            body = self.fill(body if isinstance(body, str) else json.dumps(body)).encode()
        try:
            connection.request(r.method, self.fill(r.path), body, headers)
            answer = connection.getresponse()
            raw, type_, warnings = answer.read(), answer.headers.get('Content-Type'), answer.headers.get_all('Warning') or []
        except Exception as error:
            return {'status': 0, 'text': repr(error)}
        finally:
            connection.close()
        out = {'status': answer.status, 'type': type_, 'warnings': warnings}
        try:
            if r.watches and answer.status == 200: out['events'] = [json.loads(l) for l in raw.decode().splitlines() if l]
            else: out['body'] = json.loads(raw)
        except ValueError:
            out['text'] = raw.decode(errors='replace') if b'\0' not in raw and b'k8s\x00' not in raw else '<bytes>'
        body = out.get('body')
        if isinstance(body, dict) and isinstance(body.get('metadata'), dict):
            meta = body['metadata']
            if meta.get('continue'): self.vars['CONTINUE'] = urllib.parse.quote(meta['continue'])
            if meta.get('resourceVersion'): self.vars['RV'] = meta['resourceVersion']; self.vars.setdefault('OLDRV', meta['resourceVersion'])
            if meta.get('uid'): self.vars['UID'] = meta['uid']
        return out

class Request:
    def __init__(self, method, path, body=None, content=JSON, accept=JSON, group=''):
        self.method, self.path, self.body, self.content, self.accept, self.group = method, path, body, content, accept, group
        self.watches = bool(re.search(r'[?&]watch=(?!false|0\b)|/watch/', path))
    def __str__(self):
        return '%s %s accept=%s%s' % (self.method, self.path, self.accept, '' if self.body is None else ' %s %s' % (self.content, self.body if isinstance(self.body, str) else json.dumps(self.body)))

MASKED = {'uid', 'resourceVersion', 'creationTimestamp', 'deletionTimestamp', 'lastTransitionTime', 'lastUpdateTime', 'time', 'continue', 'clusterIP',
          'clusterIPs', 'nodePort', 'token', 'expirationTimestamp', 'renewTime', 'startTime', 'hash', 'healthCheckNodePort'}
TEXT = [(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', '<uid>'), (r'\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', '<time>'),
        (r'(resource ?[vV]ersion\\*"?:? ?\\*"?)\d+( \(\d+\))?', r'\1<rv>'), (r'(continue: )[^"\s]+', r'\1<continue>'), (r'(, current: )\d+', r'\1<rv>'), (r'^\d+[smh]$', '<age>'),
        (r'\b10\.\d+\.\d+\.\d+\b', '<ip>'), (r'(gen-|-)[bcdfghjklmnpqrstvwxz2456789]{5}\b', r'\1<rnd>'), (r'(127\.0\.0\.1|192\.0\.2\.\d+):\d+', '<server>'), (r'^(admin|kubesmith-testenv)$', '<user>'), (r'selfType\d+', 'selfType')]

def known(value):
    """Removes what only controllers of kube-apiserver write, and the uid that only one of the users has."""
    if isinstance(value.get('spec'), dict) and {'matchingPrecedence', 'groupPriorityMinimum'} & set(value['spec']): value = {k: v for k, v in value.items() if k != 'status'}
    if isinstance(value.get('managedFields'), list): value = {**value, 'managedFields': [m for m in value['managedFields'] if not (isinstance(m, dict) and (m.get('manager') == 'api-priority-and-fairness-config-consumer-v1' or m.get('manager') == 'kube-apiserver' and 'k:{"type":"Available"}' in json.dumps(m).replace('\\', '')))]}
    if 'signerName' in value and 'request' in value: value = {k: v for k, v in value.items() if k != 'uid'}
    return value

def mask(value):
    if isinstance(value, dict):
        value = known(value)
        return {k: '<%s>' % k if k in MASKED and v not in (None, '', '0', 'None', ['None'], 0) and not (k == 'hash' and len(str(v)) < 9) else mask(v) for k, v in value.items()}
    if isinstance(value, list): return [mask(v) for v in value]
    if isinstance(value, str):
        for pattern, by in TEXT: value = re.sub(pattern, by, value)
    return value

def own(item):
    """Whether the test has made this item of a list: servers begin with different objects."""
    item = item.get('object', item) if isinstance(item, dict) else {}
    meta = item.get('metadata', {}) if isinstance(item, dict) else {}
    return meta.get('namespace') == 'diff' or meta.get('name', 'd-').startswith(('d-', 'diff')) or meta.get('name', '').endswith('.diff.example')

def comparable(answer, scoped):
    answer = copy.deepcopy(answer)
    body = answer.get('body')
    for key in ('items', 'rows'):
        if isinstance(body, dict) and isinstance(body.get(key), list):
            kept = [i for i in body[key] if own(i)]
            body[key] = kept
            if not scoped: body['metadata'] = {}
    if isinstance(body, dict) and isinstance(body.get('columnDefinitions'), list):
        for column in body['columnDefinitions']: column.pop('description', None)
    if isinstance(body, dict) and body.get('kind') == 'APIResourceList':  # definitions are listed in the order of Go's maps
        body['resources'] = sorted(body['resources'], key=lambda r: r['name'])
    causes = body.get('details', {}).get('causes') if isinstance(body, dict) and body.get('kind') == 'Status' else None
    if causes:  # their order is that of Go's maps
        body['details']['causes'] = sorted(causes, key=json.dumps)
        body['message'] = body['message'].split(': ')[0]
    if 'events' in answer:
        answer['events'] = [e for e in answer['events'] if own(e)]
        for event in answer['events']:
            for column in event.get('object', {}).get('columnDefinitions') or []: column.pop('description', None)
    return mask(answer)

def differences(a, b, path=''):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in list(a) + [k for k in b if k not in a] for d in (
            differences(a[k], b[k], path + '.' + k) if k in a and k in b else [(path + '.' + k, a.get(k, '<absent>'), b.get(k, '<absent>'))])]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, '%s[%d]' % (path, i))]
    if isinstance(a, list) and isinstance(b, list):  # items that only one of them has
        only = [x for x in a if x not in b], [x for x in b if x not in a]
        return [(path, *only) if any(only) else (path, a, b)]
    return [] if a == b and type(a) == type(b) else [(path, a, b)]

def cause(request, diffs):
    path, a, b = next((d for d in diffs if d[0] == '.status'), next((d for d in diffs if d[0] == '.body.message'), diffs[0]))
    words = lambda v: re.sub(r'"[^"]*"|\d+', '_', v)[:50] if isinstance(v, str) else v if isinstance(v, int) else 'list of %d' % len(v) if isinstance(v, list) else type(v).__name__
    message = next((d for d in diffs if d[0] == '.body.message'), None)
    where = re.sub(r'\[\d+\]', '[]', path)
    return (request.method, request.group, where, words(a), words(b)) + ((words(message[1]), words(message[2])) if message and path == '.status' else ())

# ---- built-in kinds: for each a valid object

POD = {'containers': [{'name': 'c', 'image': 'nginx:1'}]}
def workload(**more): return {'selector': {'matchLabels': {'app': 'x'}}, 'template': {'metadata': {'labels': {'app': 'x'}}, 'spec': POD}, **more}
JOB = {'template': {'spec': {**POD, 'restartPolicy': 'Never'}}}
RULES = [{'apiGroups': [''], 'resources': ['pods'], 'verbs': ['get']}]
HOOK = [{'name': 'a.b.c', 'clientConfig': {'url': 'https://127.0.0.1:1/x'}, 'sideEffects': 'None', 'admissionReviewVersions': ['v1'], 'objectSelector': {'matchLabels': {'never': 'x'}},
         'failurePolicy': 'Ignore', 'rules': [{'apiGroups': ['none.x'], 'apiVersions': ['v1'], 'resources': ['nones'], 'operations': ['CREATE']}]}]
ROLE = {'apiGroup': 'rbac.authorization.k8s.io', 'name': 'd-0'}
CSR = base64.b64encode(b'''-----BEGIN CERTIFICATE REQUEST-----
MIHEMG4CAQAwDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA
BL3NvQcfxUys8fdHvhICJ7ACMja1zVN08n0/jnakiBHmDijnJVTrldbHQ+2lr2ZO
YeTHcQ4a6GuWu1iUpLfp9rugADAKBggqhkjOPQQDAgNGADBDAiBBm2S1efIwW88a
Ev/DdHCmc8z7qBHOdsrJfkOTWdrLqgIfZsZBqCogftSq1/NflqTT8tp1xKyQ2RnB
e59zoaOJgg==
-----END CERTIFICATE REQUEST-----
''').decode()
KINDS = [  # group/version, kind, plural, namespaced, content
    ('v1', 'ConfigMap', 'configmaps', 1, {'data': {'a': '1', 'b': '2'}}), ('v1', 'Secret', 'secrets', 1, {'stringData': {'a': 'b'}}),
    ('v1', 'Pod', 'pods', 1, {'spec': {**POD, 'nodeName': 'd-0', 'tolerations': [{'key': 'k', 'operator': 'Exists'}]}}),
    ('v1', 'Service', 'services', 1, {'spec': {'selector': {'a': 'b'}, 'ports': [{'port': 80, 'name': 'x'}, {'port': 443, 'name': 'y', 'protocol': 'UDP'}]}}),
    ('v1', 'ServiceAccount', 'serviceaccounts', 1, {'secrets': [{'name': 's'}]}), ('v1', 'ResourceQuota', 'resourcequotas', 1, {'spec': {'hard': {'count/widgets.x': '50'}}}),
    ('v1', 'LimitRange', 'limitranges', 1, {'spec': {'limits': [{'type': 'PersistentVolumeClaim', 'max': {'storage': '9Gi'}}]}}),
    ('v1', 'Endpoints', 'endpoints', 1, {'subsets': [{'addresses': [{'ip': '10.1.1.1'}, {'ip': '10.1.1.2'}], 'ports': [{'port': 80, 'name': 'p'}]}]}),
    ('v1', 'ReplicationController', 'replicationcontrollers', 1, {'spec': {'replicas': 2, 'selector': {'app': 'x'}, 'template': {'metadata': {'labels': {'app': 'x'}}, 'spec': POD}}}),
    ('v1', 'PodTemplate', 'podtemplates', 1, {'template': {'metadata': {'labels': {'a': 'b'}}, 'spec': POD}}),
    ('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', 1, {'spec': {'accessModes': ['ReadWriteOnce'], 'storageClassName': 'x', 'resources': {'requests': {'storage': '1Gi'}}}}),
    ('v1', 'PersistentVolume', 'persistentvolumes', 0, {'spec': {'capacity': {'storage': '1Gi'}, 'accessModes': ['ReadWriteOnce'], 'hostPath': {'path': '/x'}, 'claimRef': {'name': 'n', 'namespace': 'm'}}}),
    ('v1', 'Event', 'events', 1, {'involvedObject': {'kind': 'Pod', 'name': 'tp', 'namespace': 'diff', 'fieldPath': 'spec.x'}, 'reason': 'R', 'message': 'M', 'type': 'Normal', 'count': 3, 'source': {'component': 'c', 'host': 'h'}}),
    ('v1', 'Node', 'nodes', 0, {'spec': {'unschedulable': True, 'podCIDR': '10.2.0.0/24', 'taints': [{'key': 'k', 'effect': 'NoSchedule'}]}, 'status': {'addresses': [{'type': 'InternalIP', 'address': '1.2.3.4'}], 'nodeInfo': {'kubeletVersion': 'v1', 'osImage': 'os', 'kernelVersion': 'k', 'containerRuntimeVersion': 'cri'}, 'conditions': [{'type': 'Ready', 'status': 'True'}]}}),
    ('v1', 'Namespace', 'namespaces', 0, {}),
    ('apps/v1', 'Deployment', 'deployments', 1, {'spec': workload(replicas=2)}), ('apps/v1', 'ReplicaSet', 'replicasets', 1, {'spec': workload(replicas=3)}),
    ('apps/v1', 'StatefulSet', 'statefulsets', 1, {'spec': workload(serviceName='s')}), ('apps/v1', 'DaemonSet', 'daemonsets', 1, {'spec': workload()}),
    ('apps/v1', 'ControllerRevision', 'controllerrevisions', 1, {'revision': 3, 'data': {'a': 1}}),
    ('batch/v1', 'Job', 'jobs', 1, {'spec': JOB}), ('batch/v1', 'CronJob', 'cronjobs', 1, {'spec': {'schedule': '1 * * * *', 'timeZone': 'Etc/UTC', 'jobTemplate': {'spec': JOB}}}),
    ('networking.k8s.io/v1', 'Ingress', 'ingresses', 1, {'spec': {'ingressClassName': 'x', 'tls': [{'hosts': ['a.b']}], 'rules': [{'host': 'a.b', 'http': {'paths': [{'path': '/x', 'pathType': 'Prefix', 'backend': {'service': {'name': 's', 'port': {'number': 80}}}}]}}]}}),
    ('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', 1, {'spec': {'podSelector': {'matchLabels': {'a': 'b'}, 'matchExpressions': [{'key': 'k', 'operator': 'In', 'values': ['x', 'y']}]}}}),
    ('networking.k8s.io/v1', 'IngressClass', 'ingressclasses', 0, {'spec': {'controller': 'a.b/c', 'parameters': {'apiGroup': 'k.x', 'kind': 'P', 'name': 'n', 'scope': 'Cluster'}}}),
    ('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 1, {'spec': {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'maxReplicas': 3, 'metrics': [{'type': 'Resource', 'resource': {'name': 'cpu', 'target': {'type': 'Utilization', 'averageUtilization': 50}}}]}}),
    ('autoscaling/v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 1, {'spec': {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'd'}, 'maxReplicas': 3, 'targetCPUUtilizationPercentage': 40}}),
    ('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', 1, {'spec': {'minAvailable': '30%', 'selector': {'matchLabels': {'zz': 'b'}}}}),
    ('coordination.k8s.io/v1', 'Lease', 'leases', 1, {'spec': {'holderIdentity': 'me', 'leaseDurationSeconds': 9}}),
    ('rbac.authorization.k8s.io/v1', 'Role', 'roles', 1, {'rules': RULES}), ('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', 0, {'rules': RULES}),
    ('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', 1, {'roleRef': {**ROLE, 'kind': 'Role'}, 'subjects': [{'kind': 'User', 'name': 'u', 'apiGroup': ROLE['apiGroup']}, {'kind': 'ServiceAccount', 'name': 't', 'namespace': 'diff'}, {'kind': 'Group', 'name': 'g', 'apiGroup': ROLE['apiGroup']}]}),
    ('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings', 0, {'roleRef': {**ROLE, 'kind': 'ClusterRole'}, 'subjects': [{'kind': 'User', 'name': 'u', 'apiGroup': ROLE['apiGroup']}]}),
    ('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', 1, {'addressType': 'IPv4', 'ports': [{'port': 80, 'name': 'a'}, {'port': 81, 'name': 'b'}], 'endpoints': [{'addresses': ['10.1.1.1']}]}),
    ('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 0, {'value': 5, 'preemptionPolicy': 'Never'}),
    ('storage.k8s.io/v1', 'StorageClass', 'storageclasses', 0, {'provisioner': 'x/y', 'allowVolumeExpansion': True}),
    ('storage.k8s.io/v1', 'CSIDriver', 'csidrivers', 0, {'spec': {'tokenRequests': [{'audience': 'a'}], 'volumeLifecycleModes': ['Ephemeral', 'Persistent']}}), ('storage.k8s.io/v1', 'CSINode', 'csinodes', 0, {'spec': {'drivers': [{'name': 'x.y', 'nodeID': 'n', 'topologyKeys': ['a']}]}}),
    ('storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments', 0, {'spec': {'attacher': 'x.y', 'nodeName': 'd-0', 'source': {'persistentVolumeName': 'v'}}}),
    ('storage.k8s.io/v1', 'CSIStorageCapacity', 'csistoragecapacities', 1, {'storageClassName': 'x', 'capacity': '1Gi'}), ('storage.k8s.io/v1', 'VolumeAttributesClass', 'volumeattributesclasses', 0, {'driverName': 'x.y', 'parameters': {'a': 'b'}}),
    ('certificates.k8s.io/v1', 'CertificateSigningRequest', 'certificatesigningrequests', 0, {'spec': {'request': CSR, 'signerName': 'a.b/c', 'usages': ['client auth'], 'expirationSeconds': 7200}}),
    ('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', 0, {'webhooks': HOOK}), ('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', 0, {'webhooks': HOOK}),
    ('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'validatingadmissionpolicies', 0, {'spec': {'paramKind': {'apiVersion': 'v1', 'kind': 'ConfigMap'}, 'matchConstraints': {'resourceRules': HOOK[0]['rules']}, 'validations': [{'expression': 'true'}]}}),
    ('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', 0, {'spec': {'policyName': 'd-0', 'validationActions': ['Warn'], 'paramRef': {'name': 'p', 'namespace': 'q', 'parameterNotFoundAction': 'Allow'}}}),
    ('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', 'flowschemas', 0, {'spec': {'priorityLevelConfiguration': {'name': 'global-default'}, 'matchingPrecedence': 900, 'distinguisherMethod': {'type': 'ByUser'}}}),
    ('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', 'prioritylevelconfigurations', 0, {'spec': {'type': 'Limited', 'limited': {'nominalConcurrencyShares': 3, 'limitResponse': {'type': 'Reject'}}}}),
    ('resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims', 1, {'spec': {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'x.y'}}]}}}), ('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses', 0, {'spec': {}}),
    ('resource.k8s.io/v1', 'ResourceClaimTemplate', 'resourceclaimtemplates', 1, {'spec': {'spec': {'devices': {'requests': [{'name': 'r', 'exactly': {'deviceClassName': 'x.y'}}]}}}}), ('resource.k8s.io/v1', 'ResourceSlice', 'resourceslices', 0, {'spec': {'driver': 'x.y', 'nodeName': 'd-0', 'pool': {'name': 'p', 'resourceSliceCount': 1}, 'devices': [{'name': 'd'}]}}),
    ('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', 0, {'handler': 'h'}), ('events.k8s.io/v1', 'Event', 'events', 1, {'eventTime': '2020-01-01T00:00:00.000000Z', 'reportingController': 'a.b/c', 'reportingInstance': 'i', 'action': 'A', 'reason': 'R', 'type': 'Normal', 'note': 'N', 'regarding': {'kind': 'Pod', 'namespace': 'diff', 'name': 'x'}}),
    ('networking.k8s.io/v1', 'ServiceCIDR', 'servicecidrs', 0, {'spec': {'cidrs': ['10.77.0.0/24']}}), ('networking.k8s.io/v1', 'IPAddress', 'ipaddresses', 0, {'spec': {'parentRef': {'resource': 'services', 'name': 'a', 'namespace': 'b'}}}),
    ('apiregistration.k8s.io/v1', 'APIService', 'apiservices', 0, {'spec': {'group': 'd.x', 'version': 'v1', 'groupPriorityMinimum': 10, 'versionPriority': 10, 'service': {'name': 's', 'namespace': 'n', 'port': 1}, 'insecureSkipTLSVerify': True}}),
]

def base(version, namespaced): return ('/api/' if version == 'v1' else '/apis/') + version + ('/namespaces/diff' if namespaced else '')
def name_of(kind, i): return {'IPAddress': '10.77.0.%d' % (i + 1), 'APIService': 'v%d.d.x' % (i + 1)}.get(kind, 'd-%d' % i)
def sample(k, i=0, **meta):
    body = copy.deepcopy(k[4])
    if k[1] == 'APIService': body['spec']['version'] = 'v%d' % (i + 1)
    if k[1] == 'ServiceCIDR': body['spec']['cidrs'] = ['10.%d.0.0/24' % (77 + i)]
    return {'apiVersion': k[0], 'kind': k[1], 'metadata': {'name': name_of(k[1], i), **meta}, **body}
def collection(k): return base(k[0], k[3]) + '/' + k[2]
def path_of(k, i=0): return collection(k) + '/' + name_of(k[1], i)
def quote(v): return urllib.parse.quote(str(v), safe='$')
def pick(rng, *weighted): return rng.choices([w[0] for w in weighted], [w[1] for w in weighted])[0]

# ---- custom kinds

SCHEMA_KEYS = {'string': [('minLength', 2), ('maxLength', 5), ('pattern', '^a+$'), ('enum', ['a', 'bb']), ('format', 'date-time'), ('format', 'duration'), ('format', 'ipv4'), ('format', 'byte'), ('format', 'nope')],
               'integer': [('minimum', 1), ('maximum', 5), ('multipleOf', 2), ('format', 'int32'), ('exclusiveMinimum', True), ('enum', [1, 2])], 'number': [('minimum', 1.5), ('maximum', 2.5), ('format', 'double'), ('multipleOf', .5)],
               'boolean': [('enum', [True])], 'array': [('minItems', 1), ('maxItems', 2), ('uniqueItems', False), ('x-kubernetes-list-type', 'set'), ('x-kubernetes-list-type', 'atomic')],
               'object': [('required', ['a']), ('minProperties', 1), ('maxProperties', 2), ('x-kubernetes-map-type', 'atomic'), ('x-kubernetes-preserve-unknown-fields', True)]}
RULES_CEL = ['self == self', 'has(self.a)', 'self.a == self.b', 'self.size() > 1', 'self > 1', 'self.all(x, x == x)', 'oldSelf == self', 'self.a.startsWith("a")', 'self.matches("^a")', "self in ['a', 'b']", 'self', '1', 'self.', 'self.nope == 1', 'self +', '', ' ',
             "self.a.b ==", '(self', 'self.a[', "'abc", 'has(self)', 'self.map(x,', 'true ? 1', 'self.exists(x, y)', 'x', 'duration(self) > duration("1h")', 'self?.a', 'self.a.orValue(1)', 'isQuantity(self)', 'self.metadata.name == "x"', 'self == "a" || size(self) > 3u', '[1, 2', '{"a": 1', 'self.all(x, self.all(y, x == y))', 'self.a == null', 'int(self) / 0 == 1', 'optional.of(self).hasValue()', 'self && true', "self.format('x')", '"%d".format([self]) == "1"', 'self.isSorted()', 'cel.bind(x, self, x == self)']

def rules(rng): return [dict([('rule', rng.choice(RULES_CEL))] + rng.sample([('message', rng.choice(['m', '', 'a\nb'])), ('messageExpression', rng.choice(['"m " + string(self)', '1', '"" + ', 'self', '""'])), ('reason', rng.choice(['FieldValueInvalid', 'FieldValueForbidden', 'Nope'])),
                                                                                         ('fieldPath', rng.choice(['.a', 'a', '.nope', '.a.b', ''])), ('optionalOldSelf', True)], pick(rng, (0, 5), (1, 3), (2, 1)))) for _ in range(pick(rng, (1, 4), (2, 1)))]
def schema(rng, depth=0, bad=.1):
    type_ = rng.choice(['string', 'string', 'integer', 'number', 'boolean', 'array', 'object', 'object'] if depth < 3 else ['string', 'integer', 'boolean']) if depth else 'object'
    s = {'type': type_}
    if depth and rng.random() < .08: s = rng.choice([{'x-kubernetes-int-or-string': True}, {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}, {'type': 'object', 'x-kubernetes-embedded-resource': True, 'x-kubernetes-preserve-unknown-fields': True}])
    elif type_ == 'object' and depth and rng.random() < .25: s['additionalProperties'] = schema(rng, depth + 1, bad)
    elif type_ == 'object': s['properties'] = {n: schema(rng, depth + 1, bad) for n in rng.sample(['a', 'b', 'c', 'd', 'namespace', 'a-b'], rng.randint(1, 4))}
    elif type_ == 'array':
        s['items'] = schema(rng, depth + 1, bad)
        if s['items'].get('properties') and rng.random() < .6:
            key = rng.choice(list(s['items']['properties'])); s['items']['properties'][key] = {'type': rng.choice(['string', 'integer'])}
            s.update({'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key]})
            if rng.random() < 1 - bad: s['items']['required'] = [key]
    for key, value in rng.sample(SCHEMA_KEYS[type_], min(len(SCHEMA_KEYS[type_]), rng.randint(0, 1 + (rng.random() < .2)))):
        if key == 'required': value = [rng.choice(list(s.get('properties', {'a': 0})))]
        if key not in s and not (key == 'x-kubernetes-list-type' and value == 'set' and s.get('items', {}).get('type') in ('object', 'array') and rng.random() > bad): s[key] = value
    if depth and rng.random() < .15: s['nullable'] = True
    if depth and rng.random() < .15: s['default'] = value_for(rng, s, bad)
    if rng.random() < .12: s['x-kubernetes-validations'] = rules(rng) if rng.random() < 4 * bad else [{'rule': 'self == oldSelf' if rng.random() < .2 else 'self == self'}]
    if rng.random() < bad * .7:
        s.update(rng.choice([{'type': 'nope'}, {'type': ''}, {'$ref': '#/x'}, {'x-kubernetes-list-type': 'nope'}, {'x-kubernetes-map-type': 'nope'}, {'pattern': '('}, {'enum': []}, {'default': None}, {'items': {'type': 'string'}}, {'properties': {'x': {}}}, {'uniqueItems': True}, {'additionalProperties': False}, {'nullable': 'yes'},
                             {'anyOf': [{'type': 'string'}]}, {'allOf': [{'required': ['a']}]}, {'not': {'properties': {'zz': {'maximum': 1}}}}, {'oneOf': [{'required': ['a']}, {'required': ['b']}]}, {'anyOf': [{'default': 1}]}, {'x-kubernetes-embedded-resource': True}, {'minimum': 'x'}, {'maxLength': -1}, {'required': ['a', 'a']},
                             {'x-kubernetes-int-or-string': True}, {'x-kubernetes-preserve-unknown-fields': False}, {'x-kubernetes-list-map-keys': ['q']}, {'exclusiveMaximum': True}, {'default': {'a': 'x'}}, {'default': 7}, {'patternProperties': {'a': {}}}, {'description': 3}, {'bogus': 1}, {'externalDocs': {'url': 'x'}}, {'example': {'a': 1}}, {'title': 't'}, {'id': 'x'}, {'definitions': {'a': {}}}, {'dependencies': {'a': ['b']}}]))
    return s
def value_for(rng, s, bad=.1):
    if rng.random() < bad: return rng.choice([None, 'a', '', 1, 1.5, -3, True, [], {}, ['a'], {'a': 1}, 10 ** 18, '2020-01-01T00:00:00Z', 'aaaaaaaaa', [1, 1], {'a': None}])
    if 'enum' in s and s['enum']: return rng.choice(s['enum'])
    if s.get('x-kubernetes-embedded-resource'): return {'apiVersion': 'v1', 'kind': 'X', 'metadata': {'name': 'e'}, 'x': 1}
    type_ = s.get('type')
    if type_ == 'string': return {'date-time': '2020-01-01T00:00:00Z', 'duration': '1h', 'ipv4': '1.2.3.4', 'byte': 'YQ=='}.get(s.get('format'), rng.choice(['aa', 'aaa', 'bb']))
    if type_ == 'integer': return rng.choice([2, 4])
    if type_ == 'number': return rng.choice([2, 1.5, 2.0])
    if type_ == 'boolean': return rng.random() < .5
    if type_ == 'array': return [value_for(rng, s['items'], bad) for _ in range(rng.randint(0, 3))] if isinstance(s.get('items'), dict) else []
    if type_ == 'object':
        if isinstance(s.get('additionalProperties'), dict): return {k: value_for(rng, s['additionalProperties'], bad) for k in rng.sample(['a', 'b', 'k/x'], rng.randint(0, 2))}
        out = {k: value_for(rng, v, bad) for k, v in s.get('properties', {}).items() if k in s.get('required', []) or rng.random() < .7}
        if rng.random() < bad: out['unknown'] = 1
        return out
    return rng.choice([1, 'x', '5%'])
def definition(plural, schemas, scope='Namespaced', **version):
    kind = plural[:-1].capitalize()
    return {'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', 'metadata': {'name': plural + '.diff.example'}, 'spec': {
        'group': 'diff.example', 'scope': scope, 'names': {'plural': plural, 'singular': plural[:-1], 'kind': kind, 'listKind': kind + 'List'},
        'versions': [{'name': 'v%d' % (i + 1), 'served': True, 'storage': i == 0, 'schema': {'openAPIV3Schema': s}, **version} for i, s in enumerate(schemas)]}}
def install(body):
    name = body['metadata']['name']
    yield Request('POST', CRDS, body, group='setup')
    for version in body['spec']['versions']:
        yield Request('GET', '/apis/%s/%s/%s' % (body['spec']['group'], version['name'], body['spec']['names']['plural']), group='wait')
WIDGETS = definition('widgets', [{'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'a': {'type': 'string'}, 'n': {'type': 'integer'}, 'when': {'type': 'string', 'format': 'date-time'}, 'l': {'type': 'array', 'items': {'type': 'string'}}, 'replicas': {'type': 'integer'}}},
                                                            'status': {'type': 'object', 'properties': {'replicas': {'type': 'integer'}, 'selector': {'type': 'string'}, 'ready': {'type': 'boolean'}}}}}] * 2,
                     subresources={'status': {}, 'scale': {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas', 'labelSelectorPath': '.status.selector'}}, selectableFields=[{'jsonPath': '.spec.a'}, {'jsonPath': '.spec.n'}],
                     additionalPrinterColumns=[{'name': 'A', 'type': 'string', 'jsonPath': '.spec.a'}, {'name': 'N', 'type': 'integer', 'jsonPath': '.spec.n', 'priority': 1}, {'name': 'When', 'type': 'date', 'jsonPath': '.spec.when'}, {'name': 'L', 'type': 'string', 'jsonPath': '.spec.l'}, {'name': 'L1', 'type': 'string', 'jsonPath': '.spec.l[*]'}, {'name': 'Num', 'type': 'number', 'jsonPath': '.spec.n'}, {'name': 'Ready', 'type': 'boolean', 'jsonPath': '.status.ready'}])
WIDGET = ('diff.example/v1', 'Widget', 'widgets', 1, {'spec': {'a': 'x', 'n': 3, 'when': '2019-01-01T00:00:00Z', 'l': ['p', 'q'], 'replicas': 2}})

# ---- areas: each yields requests

def setup(kinds=None, n=1):
    yield Request('POST', '/api/v1/namespaces', {'metadata': {'name': 'diff'}}, group='setup')
    yield Request('POST', NS + '/serviceaccounts', {'metadata': {'name': 'default'}}, group='setup')
    for k in KINDS if kinds is None else kinds:
        for i in range(n): yield Request('POST', collection(k), sample(k, i, labels={'a': 'b' if i % 2 else 'c', 'n': str(i)}), group='setup ' + k[2])

SELECTORS = ['a=b', 'a==b', 'a!=b', 'a', '!a', 'a in (b,c)', 'a notin (b)', 'a in ()', 'a in', 'a in (b', 'n>0', 'n<1', 'n>x', 'a=b,n=1', 'a=b,', ',a=b', 'a=', '=b', 'a=b=c', 'a b', '!a=b', 'a/b/c=d', '-a=b', 'a=-b', 'x.y/a=b', 'a in (b,,c)', 'a  in  ( b , c )', 'a notin(b)', '!', 'a exists', 'a=b;n=1', 'ä=b', 'a=ä', 'a in (ä)', 'A' * 64, 'a=' + 'b' * 64, '(a)', 'a in b', 'a>1,a<3', 'n>=1', 'a<', ' a', 'in in (in)', 'notin', 'a=in', ' ']
FIELDS = ['metadata.name=d-0', 'metadata.name!=d-0', 'metadata.name==d-1', 'metadata.namespace=diff', 'metadata.namespace!=diff', 'metadata.uid=x', 'spec.a=x', 'spec.n=3', 'spec.n=abc', 'metadata.name', 'metadata.name=', '=x', 'metadata.name=d-0,metadata.namespace=diff', 'metadata.name in (d-0)', 'metadata.name=d\\,0', 'metadata.name=d\\x', 'metadata.name=a=b', 'metadata.name=d-0,', 'spec.nodeName=d-0', 'status.phase=Pending', 'status.phase!=Running',
          'spec.unschedulable=true', 'type=Opaque', 'spec.signerName=a.b/c', 'involvedObject.kind=Pod', 'reason=R', 'status.successful=0', 'status.replicas=0', 'spec.type=ClusterIP', 'spec.clusterIP=None', 'metadata.name=d-0,metadata.name=d-1', 'spec.restartPolicy=Always', 'spec.schedulerName=x', 'status.podIP=', 'spec.hostNetwork=false', 'status.nominatedNodeName=', 'metadata.labels.a=b', 'metadata.name = d-0', '!metadata.name', ' ', 'spec.driver=x.y', 'spec.nodeName=', 'reportingController=a', 'status.phase=Active']
token = lambda **v: base64.urlsafe_b64encode(json.dumps(v).encode()).decode().rstrip('=')
CONTINUES = ['$CONTINUE', '$CONTINUE', 'abc', '!!', token(v='meta.k8s.io/v1', rv=-1, start='d-0\0'), token(v='meta.k8s.io/v1', rv=0, start='d-0'), token(v='meta.k8s.io/v1', rv=1, start='d-0'), token(v='v2', rv=5, start='x'), token(v='meta.k8s.io/v1', rv=5, start=''), token(v='meta.k8s.io/v1', rv=5, start='../x'), token(v='meta.k8s.io/v1', start='d-0'), '']
ACCEPTS = [JSON, JSON, JSON, 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io,application/json', 'application/json;as=Table', 'application/json;as=Table;g=meta.k8s.io', 'application/json;as=Nope;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v2;g=meta.k8s.io', 'application/json;as=Table;v=v1;g=x',
           'application/yaml', 'application/yaml;as=Table;v=v1;g=meta.k8s.io', 'application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'application/cbor', 'text/html', '*/*', 'application/*', '', 'text/plain', 'application/json;q=0.1,application/yaml', 'application/json;charset=utf-8', 'application/json;stream=watch', 'application/json;pretty=1', 'application/json;as=Table;v=v1;g=meta.k8s.io;pretty=1', 'application/JSON', 'json', 'application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5,application/json', 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json', 'application/json, */*', 'application/xml, application/json;q=0', 'application/json;profile=nopeerlevel', 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io']
RVS, MATCHES = ['0', '$RV', '$OLDRV', '1', '99999999', 'abc', '-1', '', '00', '1.5', ' 5'], ['Exact', 'NotOlderThan', 'Nope', '', 'exact']

def lists(rng, count, real):
    yield from setup(n=3)
    yield from install(WIDGETS)
    for i in range(3): yield Request('POST', collection(WIDGET), sample(WIDGET, i, labels={'a': 'b' if i % 2 else 'c', 'n': str(i)}), group='setup')
    for k in KINDS + [WIDGET, ('diff.example/v2', *WIDGET[1:]), ('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', 0, {})]:
        for path in (collection(k), path_of(k), path_of(k) + '/scale', path_of(k) + '/status'):
            for accept in (ACCEPTS[4], ACCEPTS[5], ACCEPTS[6]): yield Request('GET', path, accept=accept, group='forms ' + k[2])
    for _ in range(count):
        k = rng.choice([*KINDS, *[WIDGET] * 8, *KINDS[:4] * 3])
        target = pick(rng, (collection(k), 8), (base(k[0], 0) + '/' + k[2], 2), (path_of(k), 2), (collection(k) + '/none', 1), (base(k[0], 0) + '/watch' + ('/namespaces/diff/' if k[3] else '/') + k[2], .5))
        q = []
        for p, name, values in ((.35, 'labelSelector', SELECTORS), (.35, 'fieldSelector', FIELDS), (.35, 'limit', [1, 1, 2, 2, 0, -1, 'abc', 500, '', '1.5', 10 ** 30]), (.2, 'continue', CONTINUES), (.3, 'resourceVersion', RVS), (.2, 'resourceVersionMatch', MATCHES), (.15, 'watch', ['true', '1', 'false', '0', 'abc', '']), (.05, 'allowWatchBookmarks', ['true', 'x']),
                                (.06, 'sendInitialEvents', ['true', 'false', 'x']), (.05, 'pretty', ['true', '1', 'false', 'x', '']), (.05, 'includeObject', ['None', 'Metadata', 'Object', 'Nope']), (.03, 'bogus', ['1']), (.03, 'shardSelector', ['x', ''])):
            if rng.random() < p * (1 if target == collection(k) else .6): q.append(name + '=' + quote(rng.choice(values)))
        if any(x.startswith('watch=') for x in q) or '/watch/' in target: q.append('timeoutSeconds=' + pick(rng, ('1', 20), ('abc', 1), ('-1', .5), ('1.5', .5)))
        yield Request('GET', target + ('?' + '&'.join(q) if q else ''), accept=rng.choice(ACCEPTS) if rng.random() < .45 else JSON, group='list ' + ','.join(sorted(x.split('=')[0] for x in q)))

NAMES = ['Diff', 'diff', '', 'a b', 'x-y', 'a' * 64, 'diff.', 'DIFF', '1a', 'a_b', '-a', None, 3]
PATHS = ['.spec', '.spec.a', 'spec.a', '', '.', '.spec[0]', '.spec.a[*]', '.metadata.name', '.metadata.labels', ".spec['a']", '.status', '.status.b', '.spec.', '{.spec.a}', '.spec..a', '.spec.l[?(@.x)]', '.apiVersion', None, 5, '.spec.a-b', '$.spec', '.metadata.annotations.x', '.spec\\.a', '.spec.c']
def breakages(rng):
    """Changes of a definition: paths with values, most of them wrong."""
    v = 'spec.versions.0.'
    yield from rng.sample([('spec.group', rng.choice(NAMES + ['other.example', 'x.k8s.io'])), ('spec.names.plural', rng.choice(NAMES)), ('spec.names.singular', rng.choice(NAMES)), ('spec.names.kind', rng.choice(NAMES)), ('spec.names.listKind', rng.choice(NAMES)), ('spec.names.shortNames', rng.choice([['a'], ['A'], ['a b'], [], None, 'x', ['a', 'a']])), ('spec.names.categories', rng.choice([['all'], ['A b'], ['x', 'x']])),
        ('spec.scope', rng.choice(['Cluster', 'Nope', '', None])), ('spec.conversion', rng.choice([{'strategy': 'None'}, {'strategy': 'Nope'}, {'strategy': ''}, {}, {'strategy': 'Webhook'}, {'strategy': 'None', 'webhook': {}}, {'strategy': 'Webhook', 'webhook': {'conversionReviewVersions': rng.choice([['v1'], [], ['v2'], ['v1', 'v1'], ['v1beta1'], ['V_1', 'v1']]), 'clientConfig': rng.choice([{}, {'url': 'http://x'}, {'url': 'https://x?y=z'}, {'url': 'https://u:p@x'}, {'url': 'https://x/#f'}, {'service': {'name': 'a', 'namespace': 'b', 'path': rng.choice(['/x', 'x', '/a//b', '/'])}}, {'service': {'name': '', 'namespace': ''}}, {'service': {'name': 'a', 'namespace': 'b', 'port': 70000}}, {'url': 'https://x', 'caBundle': 'eA=='}, {'url': 'https://x', 'service': {'name': 'a', 'namespace': 'b'}}])}}])),
        ('spec.preserveUnknownFields', rng.choice([True, False, 'x'])), ('spec.versions', rng.choice([[], None, {}, [{}], [{'name': 'v1'}]])), (v + 'name', rng.choice(NAMES + ['v2', 'V1'])), (v + 'storage', rng.choice([False, None, 'x'])), (v + 'served', rng.choice([False, None])), (v + 'schema', rng.choice([None, {}, {'openAPIV3Schema': None}, {'openAPIV3Schema': {}}, {'openAPIV3Schema': {'type': 'string'}}, {'openAPIV3Schema': {'type': 'object', 'properties': {'metadata': {'type': 'object', 'properties': {'name': {'type': 'string', 'maxLength': 4}, 'x': {'type': 'string'}}}}}}, {'openAPIV3Schema': {'type': 'object', 'x-kubernetes-preserve-unknown-fields': True}}, {'openAPIV3Schema': {'type': 'object', 'nullable': True}}])),
        (v + 'deprecated', rng.choice([True, 'x'])), (v + 'deprecationWarning', rng.choice(['x', '', 'a' * 300, 'a\nb'])), (v + 'additionalPrinterColumns', [{k: x for k, x in {'name': rng.choice(['A', '', None, 'Name']), 'type': rng.choice(['string', 'date', 'nope', '', None, 'integer']), 'jsonPath': rng.choice(PATHS), 'format': rng.choice([None, None, 'byte', 'nope']), 'priority': rng.choice([0, -1, 1])}.items() if x is not None} for _ in range(rng.randint(0, 3))]),
        (v + 'subresources', rng.choice([{}, {'status': {}}, {'status': {'x': 1}}, {'nope': {}}, None] + [{'scale': {k: x for k, x in {'specReplicasPath': rng.choice(PATHS), 'statusReplicasPath': rng.choice(PATHS), 'labelSelectorPath': rng.choice(PATHS)}.items() if x is not None}} for _ in range(5)])), (v + 'selectableFields', [{'jsonPath': rng.choice(PATHS)} for _ in range(pick(rng, (1, 5), (2, 2), (0, 1), (9, 1)))]),
        ('metadata.name', rng.choice(NAMES + ['x.diff.example'])), ('metadata.finalizers', rng.choice([['a'], ['a/b'], ['']])), ('status', rng.choice([{'storedVersions': ['v9']}, {'conditions': []}, {}])), ('spec.bogus', 1), ('metadata.annotations', {'api-approved.kubernetes.io': rng.choice(['https://github.com/kubernetes/kubernetes/pull/1', 'unapproved, x', 'x', ''])}), ('metadata.labels', {'a b': 'c'})],
        pick(rng, (0, 3), (1, 5), (2, 2), (3, 1)))
def put(body, path, value):
    *parents, last = path.split('.')
    for p in parents:
        body = body[int(p)] if isinstance(body, list) and p.isdigit() and int(p) < len(body) else body.get(p) if isinstance(body, dict) else None
        if body is None: return
    if isinstance(body, dict): body.pop(last, None) if value is None else body.__setitem__(last, value)
def random_definition(rng, plural):
    spec = lambda: {'type': 'object', 'properties': {'spec': schema(rng, 1 if rng.random() < .2 else 0, .12), 'status': schema(rng, 1, .05)}}
    body = definition(plural, [spec() for _ in range(pick(rng, (1, 3), (2, 1)))])
    for path, value in breakages(rng): put(body, path, value)
    return body
def definitions(rng, count, real):
    for i in range(count):
        if i % 20 == 0:
            yield from setup([])
            yield Request('POST', CRDS, definition('moves%ds' % i, [{'type': 'object'}] * 2), group='setup'); old = i
        body = random_definition(rng, 'moves%ds' % old if i % 5 == 4 else 'gadgets'); field = '&fieldValidation=' + pick(rng, ('Strict', 3), ('Warn', 2), ('Ignore', 1), ('Nope', .1))
        if i % 5 == 4:
            content, method = pick(rng, ((MERGE, 'PATCH'), 2), ((JSON, 'PUT'), 2), ((APPLY, 'PATCH'), 1))
            if rng.random() < .5: put(body, 'spec.versions', [{'name': n, 'served': rng.random() < .8, 'storage': n == storage, 'schema': {'openAPIV3Schema': {'type': 'object'}}} for storage in [rng.choice(['v1', 'v2', 'v3'])] for n in rng.sample(['v1', 'v2', 'v3'], rng.randint(1, 3))])
            if method == 'PUT': body.get('metadata', {})['resourceVersion'] = pick(rng, ('$RV', 3), ('1', 1))
            yield Request('GET', CRDS + '/moves%ds.diff.example' % old, group='read')
            yield Request(method, CRDS + '/moves%ds.diff.example?fieldManager=m%s' % (old, field), body, content, group='update ' + content)
        else: yield Request('POST', CRDS + '?dryRun=All' + field, body, group='create')

def pointer(rng, value, path=''):
    """A random place in a value, and what stands there."""
    if rng.random() < .75 and value and isinstance(value, (dict, list)):
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        return pointer(rng, value[key], path + '/' + str(key).replace('~', '~0').replace('/', '~1'))
    return path, value
def json_patch(rng, body, value):
    def op():
        path, old = pointer(rng, body)
        path += pick(rng, ('', 10), ('/-', 1), ('/new', 1), ('/0', 1), ('/01', .3), ('/-1', .3), ('/99', .5), ('~2', .2))
        return rng.choice([{'op': 'add', 'path': path, 'value': value()}, {'op': 'replace', 'path': path, 'value': value()}, {'op': 'remove', 'path': path}, {'op': 'test', 'path': path, 'value': old if rng.random() < .6 else value()}, {'op': 'move', 'from': pointer(rng, body)[0], 'path': path}, {'op': 'copy', 'from': pointer(rng, body)[0], 'path': path}, {'op': 'replace', 'path': rng.choice(['/apiVersion', '/kind', '/metadata/name', '/metadata/namespace', '/metadata', '/spec', '/metadata/uid', '/metadata/labels']), 'value': rng.choice(['', None, 'x', {}, []])}, {'op': rng.choice(['nope', '', None])}, {'op': 'add', 'path': path}])
    return pick(rng, ([op() for _ in range(rng.randint(0, 3))], 20), ({}, .3), ('', .2), ([None], .2), ('[{"op":"add"', .2))
def metadata(rng):
    return dict(rng.sample([('labels', rng.choice([{'a': 'b'}, {'a b': 'c'}, {'a': None}, None, {'a': 1}, {}])), ('annotations', rng.choice([{'a': 'b'}, {'A B': 'c'}, {'a': 'x\ny'}])), ('finalizers', rng.choice([['a.b/c'], ['plain'], ['x', 'x'], [], ['orphan', 'foregroundDeletion']])), ('ownerReferences', rng.choice([[{'apiVersion': 'v1', 'kind': 'Pod', 'name': 'n', 'uid': 'u'}], [{}], [{'apiVersion': 'v1', 'kind': 'Event', 'name': 'n', 'uid': 'u'}], [{'apiVersion': 'v1', 'kind': 'Pod', 'name': 'n', 'uid': 'u', 'controller': True}] * 2])), ('generateName', rng.choice(['g-', 'G_'])),
                            ('namespace', rng.choice(['diff', 'other', ''])), ('uid', rng.choice(['x', '', '$UID'])), ('resourceVersion', rng.choice(['', '0', '$RV', '1', 'abc'])), ('generation', rng.choice([5, 0, 'x'])), ('creationTimestamp', rng.choice([None, '2020-01-01T00:00:00Z', 'x'])), ('deletionTimestamp', rng.choice([None, '2020-01-01T00:00:00Z'])), ('managedFields', rng.choice([[], [{}], None, [{'manager': 'x', 'operation': 'Nope'}]])), ('selfLink', 'x'), ('bogus', 1), ('deletionGracePeriodSeconds', 5)], pick(rng, (0, 6), (1, 3), (2, 1))))
def writes(rng, k, body, i, value, bad=.1):
    """One random write of an object."""
    meta = lambda **m: {**m, **metadata(rng)}; path = path_of(k, i) + pick(rng, ('', 6), ('/status', 2), ('/scale', 1))
    q = '?fieldManager=' + rng.choice(['m', 'n', 'o']) + pick(rng, ('', 4), ('&fieldValidation=Strict', 3), ('&fieldValidation=Ignore', 1), ('&dryRun=All', 1))
    kind = pick(rng, ('create', 2), ('put', 2), ('merge', 2), ('json', 3), ('apply', 4), ('smp', .3 if k is WIDGET or k[0].startswith('diff') else 4), ('delete', .4))
    named = {'apiVersion': k[0], 'kind': k[1]}
    if path.endswith('/scale') and rng.random() < .7:
        named = {'apiVersion': 'autoscaling/v1', 'kind': 'Scale'}; body = {'spec': {'replicas': rng.choice([0, 1, 3, -1, 'x', None, 1.0])}}
    if rng.random() < .03: named.update(rng.choice([{'kind': 'Nope'}, {'apiVersion': 'v9'}, {'kind': ''}, {'apiVersion': ''}, {'apiVersion': 'x/y/z'}]))
    if kind == 'create': return Request('POST', collection(k) + q, {**named, 'metadata': meta(name=name_of(k[1], i)), **body}, group='create ' + k[2])
    if kind == 'put': return Request('PUT', path + q, {**named, 'metadata': meta(name=name_of(k[1], i), **({'resourceVersion': '$RV'} if rng.random() < .3 else {})), **body}, group='put ' + k[2])
    if kind == 'json': return Request('PATCH', path + q, json_patch(rng, {**named, 'metadata': {'name': name_of(k[1], i), 'labels': {'a': 'b'}}, **body}, value), PATCH, group='json ' + k[2])
    if kind == 'delete': return Request('DELETE', path_of(k, i) + q, rng.choice([None, {'propagationPolicy': rng.choice(['Foreground', 'Background', 'Orphan', 'x'])}, {'preconditions': {'uid': 'x'}}, {'gracePeriodSeconds': 0}]), group='delete ' + k[2])
    if kind == 'apply': return Request('PATCH', path + q + pick(rng, ('', 1), ('&force=true', 2)), {**named, 'metadata': meta(**({'name': name_of(k[1], i)} if rng.random() < .9 else {})), **body}, APPLY, group='apply ' + k[2])
    return Request('PATCH', path + q, {**({'metadata': metadata(rng)} if rng.random() < .4 else {}), **body, **(named if rng.random() < .2 else {})}, SMP if kind == 'smp' else MERGE, group=kind + ' ' + k[2])
def custom(rng, count, real):
    yield from setup([])
    kinds = []
    for i in range(max(2, count // 60)):
        spec = schema(rng, 0, .0); status = schema(rng, 0, .0)
        spec.setdefault('properties', {})['replicas'] = {'type': 'integer'}; status.setdefault('properties', {})['replicas'] = {'type': 'integer'}
        for s in (spec, status): s.pop('maxProperties', None)
        crd = definition('kinds%ds' % i, [{'type': 'object', 'properties': {'spec': spec, 'status': status}}], **({'subresources': {'status': {}, 'scale': {'specReplicasPath': '.spec.replicas', 'statusReplicasPath': '.status.replicas'}}} if i % 3 else {}))
        yield from install(crd)
        kinds.append((('diff.example/v1', crd['spec']['names']['kind'], crd['spec']['names']['plural'], 1, {}), spec, status))
    for _ in range(count):
        k, spec, status = rng.choice(kinds); bad = rng.choice([0, .03, .2])
        body = {'spec': value_for(rng, spec, bad)}
        if rng.random() < .3: body['status'] = value_for(rng, status, bad)
        yield writes(rng, k, body, rng.randint(0, 1), lambda: value_for(rng, rng.choice([spec, status, {'type': 'string'}, {'type': 'integer'}]), .2))

class Types:
    """Go's types of built-in kinds, as the real server describes them."""
    def __init__(self, server):
        self.schemas = {}
        for v in sorted({k[0] for k in KINDS}):
            answer = {}
            while answer.get('status') != 200: answer = server.send(Request('GET', '/openapi/v3/' + ('api/' if v == 'v1' else 'apis/') + v))
            self.schemas.update(answer['body']['components']['schemas'])
        self.roots = {(g['group'] + '/' if g['group'] else '') + g['version'] + g['kind']: s for s in self.schemas.values() for g in s.get('x-kubernetes-group-version-kind', [])}
        for k in KINDS: self.roots.setdefault(k[0] + k[1], {})
    def resolve(self, s):
        while '$ref' in s or 'allOf' in s: s = self.schemas[(s.get('$ref') or s['allOf'][0]['$ref']).split('/')[-1]]
        return s
    def value(self, rng, s, name='', depth=0):
        s = self.resolve(s); type_ = s.get('type')
        if rng.random() < .04: return rng.choice([None, '', 'x', 1, -1, [], {}, True])
        if s.get('enum'): return rng.choice(s['enum'])
        if s.get('properties'): return {n: self.value(rng, p, n, depth + 1) for n, p in s['properties'].items() if n in s.get('required', []) or rng.random() < (.3, .2, .1)[min(depth, 2)]}
        if type_ == 'array': return [self.value(rng, s['items'], name, depth + 1) for _ in range(rng.randint(0, 2))]
        if type_ == 'object': return {key: self.value(rng, s['additionalProperties'], '', depth + 1) for key in rng.sample(['a', 'cpu', 'x/y'], rng.randint(0, 2))} if 'additionalProperties' in s else {}
        if type_ == 'boolean': return rng.random() < .5
        if type_ in ('integer', 'number'): return rng.choice([0, 1, 1, 80, 81, -1, 70000])
        if s.get('oneOf') or 'quantity' in str(s.get('description', '')).lower()[:40]: return rng.choice(['1', 2, '50%', '1Gi', 'x'])
        return rng.choice({'date-time': ['2020-01-01T00:00:00Z'], 'byte': ['YQ==']}.get(s.get('format')) or [*{'ip': ['10.1.1.1'], 'protocol': ['TCP', 'UDP', 'x'], 'operator': ['In', 'Exists', 'Equal'], 'type': ['ClusterIP', 'Recreate', 'RollingUpdate'], 'effect': ['NoSchedule'], 'image': ['nginx:1']}.get(name, []), 'a', 'b', 'x', 'd-0', 'Always', ''])
    def mutate(self, rng, s, body):
        """A copy of a body in which one random field has a random value of its type, or is missing."""
        s = self.resolve(s)
        if isinstance(body, dict) and s.get('properties'):
            known = [n for n in s['properties'] if n in body] if rng.random() < .7 else list(s['properties'])
            n = rng.choice([x for x in known if x not in ('apiVersion', 'kind', 'metadata')] or [None])
            if n is None: return body
            if n in body and rng.random() < .75 and isinstance(body[n], (dict, list)): return {**body, n: self.mutate(rng, s['properties'][n], body[n])}
            return {k: v for k, v in body.items() if k != n} if n in body and rng.random() < .15 else {**body, n: self.value(rng, s['properties'][n], n)}
        if isinstance(body, list) and body and s.get('items'):
            i = rng.randrange(len(body)); return pick(rng, (body[:i] + [self.mutate(rng, s['items'], body[i])] + body[i + 1:], 4), (body + [self.value(rng, s['items'])], 1), (body + [body[i]], .5), ([], .3))
        return self.value(rng, s) if s else body
def directives(rng, body):
    """Strategic merge directives in some places."""
    if isinstance(body, list): return [directives(rng, v) for v in body] + ([{'$patch': rng.choice(['replace', 'delete', 'x'])}] if rng.random() < .05 else [])
    if not isinstance(body, dict): return body
    out = {k: directives(rng, v) for k, v in body.items()}
    for key, v in body.items():
        if isinstance(v, list) and rng.random() < .15: out['$setElementOrder/' + key] = rng.choice([v, [{n: x for n, x in e.items() if n in ('name', 'port', 'key', 'ip')} if isinstance(e, dict) else e for e in v][::-1], ['x']])
        if isinstance(v, list) and rng.random() < .08: out['$deleteFromPrimitiveList/' + key] = rng.choice([v, ['x'], 'x'])
    if rng.random() < .08: out['$patch'] = rng.choice(['delete', 'replace', 'merge', 'nope'])
    if rng.random() < .05: out['$retainKeys'] = rng.choice([list(body), [], ['type'], 'x'])
    return out
def builtin(rng, count, real):
    types = Types(real)
    yield from setup(n=2)
    for n in range(count):
        k = rng.choice(KINDS); root = types.roots[k[0] + k[1]]
        body = {key: v for key, v in sample(k).items() if key not in ('apiVersion', 'kind', 'metadata')}
        for _ in range(rng.randint(1, 2)): body = types.mutate(rng, root, body)
        if not isinstance(body, dict): body = {}
        if rng.random() < .3: body = {key: v for key, v in body.items() if key in ('spec', 'status', 'data')}
        r = writes(rng, k, body, rng.randint(0, 1), lambda: types.value(rng, rng.choice(list(root.get('properties', {}).values()) or [{'type': 'string'}]), depth=1))
        if r.content == SMP: r.body = directives(rng, r.body)
        yield r

def subresources(rng, count, real):
    scaled = [k for k in KINDS if k[2] in ('deployments', 'replicasets', 'statefulsets', 'replicationcontrollers')]
    pods, accounts, csrs = (next(k for k in KINDS if k[2] == n) for n in ('pods', 'serviceaccounts', 'certificatesigningrequests'))
    types = Types(real); unbound = {**pods[4]['spec']}; del unbound['nodeName']
    yield from setup([*scaled, accounts, csrs, next(k for k in KINDS if k[2] == 'poddisruptionbudgets')], 2)
    for n in range(count):
        i = rng.randint(0, 1)
        if n % 15 == 0:
            for j in (0, 1): yield Request('POST', collection(pods), {**sample(pods, j), 'spec': {**unbound, 'tolerations': []}}, group='setup pod')
        what = pick(rng, ('eviction', 2), ('binding', 2), ('token', 2), ('scale', 5), ('status', 4), ('approval', 2), ('ephemeralcontainers', 2), ('resize', 2), ('csrstatus', 1), ('other', 1))
        q = '?fieldManager=' + rng.choice(['m', 'n']) + pick(rng, ('', 4), ('&dryRun=All', 1), ('&fieldValidation=Strict', 1))
        fuzz = lambda gvk, body: types.mutate(rng, types.roots[gvk], body) if gvk in types.roots and rng.random() < .7 else body
        if what == 'eviction': yield Request('POST', path_of(pods, i) + '/eviction' + q, {**fuzz('policy/v1Eviction', {'deleteOptions': rng.choice([{}, {'dryRun': ['All']}, {'gracePeriodSeconds': 0}, {'preconditions': {'uid': 'x'}}])}), 'apiVersion': rng.choice(['policy/v1', 'policy/v1', 'policy/v1beta1', 'v1', '']), 'kind': rng.choice(['Eviction', 'Eviction', 'Eviction', 'Pod', '']), 'metadata': {**metadata(rng), 'name': rng.choice(['d-%d' % i, 'd-9', ''])}}, group=what)
        elif what == 'binding': yield Request('POST', (path_of(pods, i) + '/binding' if rng.random() < .7 else NS + '/bindings') + q, {**fuzz('v1Binding', {'target': rng.choice([{'kind': 'Node', 'name': 'd-0'}, {'name': 'd-0'}, {}, {'kind': 'Pod', 'name': 'x'}, {'kind': 'Node', 'name': ''}])}), 'metadata': {**metadata(rng), 'name': rng.choice(['d-%d' % i, 'd-9', ''])}}, group=what)
        elif what == 'token': yield Request('POST', path_of(accounts, i) + '/token' + q, {'spec': rng.choice([{}, {'audiences': ['a']}, {'expirationSeconds': rng.choice([600, 599, 3600, 2 ** 33, -1])}, {'boundObjectRef': {'kind': rng.choice(['Pod', 'Secret', 'Node', 'X']), 'apiVersion': rng.choice(['v1', 'x/v1']), 'name': rng.choice(['d-0', 'none', '']), 'uid': rng.choice(['x', ''])}}, {'audiences': []}]), **({'metadata': metadata(rng)} if rng.random() < .3 else {}), 'kind': rng.choice(['TokenRequest', 'TokenRequest', 'Pod', '']), 'apiVersion': rng.choice(['authentication.k8s.io/v1', 'authentication.k8s.io/v1', 'v1', ''])}, group=what)
        elif what == 'scale':
            k = rng.choice(scaled); content = rng.choice([JSON, MERGE, PATCH, APPLY, APPLY, SMP]); spec = {'spec': rng.choice([{'replicas': rng.choice([0, 1, 2, 5, -1, None, 'x', 1.0, 2 ** 33])}, {}, {'x': 1}, None]), **({'status': {'replicas': 3, 'selector': 'a'}} if rng.random() < .2 else {})}
            named = {'apiVersion': rng.choice(['autoscaling/v1'] * 5 + ['v1', k[0]]), 'kind': rng.choice(['Scale'] * 5 + ['X']), 'metadata': {**metadata(rng), 'name': 'd-%d' % i}}
            body = json_patch(rng, {'spec': {'replicas': 2}, 'metadata': {'name': 'd'}}, lambda: rng.choice([3, -1, 'x', {}])) if content == PATCH else {**named, **spec} if content in (JSON, APPLY) or rng.random() < .2 else spec
            yield Request('PUT' if content == JSON else 'PATCH', path_of(k, i) + '/scale' + q + rng.choice(['', '&force=true']), body, content, group='scale ' + content)
            yield Request('GET', path_of(k, i), group='read scaled')
            if rng.random() < .3: yield Request('PATCH', path_of(k, i) + q + '&force=true', {'apiVersion': k[0], 'kind': k[1], 'spec': {'replicas': rng.randint(1, 3)}}, APPLY, group='apply scaled')
        elif what in ('approval', 'csrstatus'): yield Request('PATCH', path_of(csrs, i) + ('/approval' if what == 'approval' else '/status') + q, {'status': {'conditions': [{'type': rng.choice(['Approved', 'Denied', 'Failed', 'X', '']), 'status': rng.choice(['True', 'False', '', None]), 'reason': rng.choice(['R', '']), 'message': 'm'} for _ in range(rng.randint(0, 2))], **({'certificate': rng.choice(['YQ==', '', CSR])} if rng.random() < .3 else {})}}, rng.choice([MERGE, SMP]), group=what)
        elif what == 'other': yield Request(rng.choice(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']), path_of(rng.choice([pods, accounts, csrs, *scaled]), i) + rng.choice(['/eviction', '/binding', '/token', '/scale', '/status', '/approval', '/nope', '/ephemeralcontainers', '/resize', '/status/x']), rng.choice([None, {}]), rng.choice([JSON, MERGE]), group=what)
        else:
            part = {'status': {'status': {'phase': 'Running', 'podIPs': [{'ip': '10.1.1.1'}], 'conditions': [{'type': 'Ready', 'status': 'True'}], 'containerStatuses': [{'name': 'c', 'image': 'i', 'imageID': 'x', 'ready': True, 'restartCount': 0}]}}, 'ephemeralcontainers': {'spec': {'ephemeralContainers': [{'name': rng.choice(['e', 'f', 'c']), 'image': 'i', 'targetContainerName': rng.choice(['c', 'x'])}]}}, 'resize': {'spec': {'containers': [{'name': 'c', 'resources': {'requests': {'cpu': rng.choice(['1', '2', 'x'])}}}]}}}[what]
            yield Request('PATCH', path_of(pods, i) + '/' + what + q, fuzz('v1Pod', part), rng.choice([SMP, SMP, MERGE]), group=what)

def discovery(rng, count, real):
    yield from setup([]); yield from install(WIDGETS)
    for i in range(max(1, count // 20)):
        yield from install(definition('kinds%ds' % i, [{'type': 'object', 'description': 'd', 'properties': {'spec': schema(rng, 0, 0)}}], rng.choice(['Cluster', 'Namespaced'])))
    groups = sorted({k[0] for k in KINDS} | {'diff.example/v1', 'diff.example/v2', 'apiextensions.k8s.io/v1', 'authentication.k8s.io/v1', 'authorization.k8s.io/v1', 'nope/v1'})
    paths = ['/api', '/apis', '/api/v1', '/version', '/openapi/v3', '/openapi/v2', '/', '/apis/', '/api/'] + ['/apis/' + g for g in groups] + ['/apis/' + g.split('/')[0] for g in groups] + ['/openapi/v3/' + ('api/' if g == 'v1' else 'apis/') + g for g in groups]
    for path in paths:
        for accept in (JSON, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json') + (('application/yaml', 'text/html', 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList') if 'openapi' not in path else ()):
            yield Request('GET', path, accept=accept, group=path)
AREAS = {'lists': lists, 'definitions': definitions, 'custom': custom, 'builtin': builtin, 'subresources': subresources, 'discovery': discovery}

def main():
    args = argparse.ArgumentParser(usage=__doc__)
    args.add_argument('ours'); args.add_argument('real')
    for name, value in (('--seed', 1), ('--count', 500), ('--show', 1)): args.add_argument(name, type=int, default=value)
    args.add_argument('--only', choices=AREAS); args.add_argument('--token', default=','); args.add_argument('--width', type=int, default=400)
    args = args.parse_args()
    servers = [Server(url, token) for url, token in zip((args.ours, args.real), args.token.split(','))]
    short = lambda v: (v if isinstance(v, str) else json.dumps(v, ensure_ascii=False))[:args.width]
    with concurrent.futures.ThreadPoolExecutor(2) as both:
        for area in [args.only] if args.only else AREAS:
            found, sent = collections.defaultdict(list), 0
            for r in AREAS[area](random.Random('%s %d' % (area, args.seed)), args.count, servers[1]):
                tries = 40 if r.group == 'wait' else 1
                answers = list(both.map(lambda s: s.send(r), servers))
                while r.group == 'wait' and any(a['status'] != 200 for a in answers) and tries:
                    time.sleep(.1); tries -= 1; answers = list(both.map(lambda s: s.send(r), servers))
                sent += 1
                diffs = differences(*reversed([comparable(a, '/namespaces/diff/' in r.path) for a in answers]))
                if diffs: found[cause(r, diffs)].append((r, diffs))
            different = sum(map(len, found.values()))
            for key, cases in sorted(found.items(), key=lambda f: -len(f[1])):
                print('--- %d: %s' % (len(cases), ' | '.join(map(str, key))))
                for r, diffs in cases[:args.show]:
                    print('  ', str(r)[:args.width * 3])
                    for path, real, ours in diffs[:6]: print('     %s\n       real %s\n       ours %s' % (path, short(real), short(ours)))
            print('%s: %d of %d requests differ, %d causes' % (area, different, sent, len(found)), flush=True)
main()
