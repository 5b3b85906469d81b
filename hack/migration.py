#!/usr/bin/env python3
"""Migrates many objects to another storage version and back, and kills the processes that take part at random moments.

migration.py [--objects N] [--kills N] [--seed N] [--rate N] [--server URL --token TOKEN] [--kubesmith FILE] [--webhook FILE]

The kind is CronTab of examples/crontab: v1beta1 is stored first, then v1, then v1beta1 again, and the example's webhook converts
each object. `crd apply`, `crd migrate` and the webhook are killed with SIGKILL; `apply` and `migrate` are run again, as a Job
would. At the end, all objects must be as they were, and `status.storedVersions` must have the new version only. Without
--server, the script starts `kubesmith serve` on a folder of its own. A given server must be able to call https://127.0.0.1. The
script needs openssl, the command and crontab-webhook, in release builds for many objects. hack/e2e-operators.sh runs it for 2,000.
"""
import argparse, base64, concurrent.futures, http.client, json, pathlib, random, re, signal, socket, ssl, subprocess, sys, tempfile, \
    threading, time, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
CRD = 'crontabs.stable.example.com'
CRD_PATH = f'/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{CRD}'
TABS = '/apis/stable.example.com/{}/namespaces/default/crontabs'
OLD, NEW = 'v1beta1', 'v1'
PAGE = 1000
WRITERS = 8


class Client(threading.local):
    """A connection for each thread."""

    def __init__(self, url, token):
        self.url, self.token, self.connection = urllib.parse.urlparse(url), token, None

    def send(self, method, path, body=None, content='application/json', again=False):
        headers = {'Authorization': f'Bearer {self.token}', 'Content-Type': content}
        if self.connection is None:
            tls = {'context': ssl._create_unverified_context()} if self.url.scheme == 'https' else {}
            kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
            self.connection = kind(self.url.hostname, self.url.port, timeout=120, **tls)
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):
            if method != 'GET' or again:
                raise
            # The server ended the connection while it was idle.
            self.connection = None
            return self.send(method, path, again=True)
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f'{method} {path}: {answer.status} {text[:500].decode()}')
        return json.loads(text)

    def objects(self, version):
        """All objects in a version, by name."""
        found, token = {}, ''
        while True:
            query = urllib.parse.urlencode({'limit': PAGE, 'continue': token})
            page = self.send('GET', f'{TABS.format(version)}?{query}')
            found.update({item['metadata']['name']: item for item in page['items']})
            token = page['metadata'].get('continue', '')
            if not token:
                return found

    def definition(self):
        return self.send('GET', CRD_PATH)


def tab(number, dice):
    """An object of v1beta1."""
    zone = {'annotations': {'stable.example.com/time-zone': 'Europe/Rome'}} if number % 3 == 0 else {}
    return {
        'apiVersion': f'stable.example.com/{OLD}', 'kind': 'CronTab',
        'metadata': {'name': f'tab-{number:06}', **zone},
        'spec': {'schedule': f'{dice.randrange(60)} {dice.randrange(24)} * * {dice.randrange(7)}', 'image': f'image-{number}',
                 'replicas': dice.randrange(11), 'concurrencyPolicy': dice.choice(['Allow', 'Forbid', 'Replace'])},
    }


def kept(item):
    """The parts of an object that no migration may change."""
    metadata = item['metadata']
    return {key: metadata.get(key) for key in ('uid', 'creationTimestamp', 'generation', 'annotations', 'labels')}, item['spec']


class Parties:
    """The processes that take part, and the moments at which they were killed."""

    def __init__(self, args, folder, client):
        self.args, self.folder, self.client = args, folder, client
        self.dice = random.Random(args.seed)
        self.webhook, self.table = None, []
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        self.make_certificate()
        self.start_webhook()

    def make_certificate(self):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext',
                        'subjectAltName=IP:127.0.0.1', '-keyout', 'tls.key', '-out', 'tls.crt'],
                       cwd=self.folder, check=True, capture_output=True)

    def start_webhook(self):
        command = [self.args.webhook, '--webhook-cert-dir', self.folder, '--webhook-port', str(self.port),
                   '--kubeconfig', self.folder / 'kubeconfig', '--metrics-bind-address', '0', '--health-probe-bind-address', '0']
        self.webhook = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(('127.0.0.1', self.port)) == 0:
                    return
            if self.webhook.poll() is not None:
                raise SystemExit(f'the webhook ended with {self.webhook.returncode}')
            time.sleep(0.02)

    def manifest(self, stored):
        """The definition with `stored` as the storage version, as a file."""
        text = next((ROOT / 'examples/crontab/config/crd/bases').glob('*.yaml')).read_text()
        bundle = base64.b64encode((self.folder / 'tls.crt').read_bytes()).decode()
        service = re.compile(r'( +)service:\n(?:\1 +.*\n)+')
        text = service.sub(rf'\1caBundle: {bundle}\n\1url: https://127.0.0.1:{self.port}/convert\n', text)
        # A version's `name` stands before its `storage`.
        version = None
        lines = []
        for line in text.splitlines():
            if found := re.fullmatch(r' {2}(?:- |  )name: (v\w+)', line):
                version = found[1]
            lines.append(re.sub(r'storage: \w+', f'storage: {"true" if version == stored else "false"}', line)
                         if re.match(r' +storage:', line) else line)
        path = self.folder / f'{stored}.yaml'
        path.write_text('\n'.join(lines) + '\n')
        return path

    def kubesmith(self, *arguments):
        command = [self.args.kubesmith, 'crd', *map(str, arguments), '--kubeconfig', str(self.folder / 'kubeconfig')]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def until_done(self, name, arguments, kills, spread):
        """Runs a command until it succeeds; kills it or the webhook again and again, each time after up to `spread` seconds."""
        while True:
            process = self.kubesmith(*arguments)
            is_disturbed = kills > 0
            while kills > 0 and self.is_running(process, self.dice.uniform(0, spread)):
                kills -= 1
                self.kill(name, self.dice.choice([name, 'webhook']), process)
            output, _ = process.communicate()
            if process.returncode == 0:
                return
            if not is_disturbed:
                raise SystemExit(f'{name} failed: {output}')

    def is_running(self, process, seconds):
        """Whether a process still runs after a time."""
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True

    def kill(self, name, victim, process):
        killed = self.webhook if victim == 'webhook' else process
        killed.kill()
        killed.wait()
        progress = self.client.definition()['metadata'].get('annotations', {}).get('kubesmith.dev/migration', '')
        self.table.append((name, victim, progress.rpartition(' ')[2]))
        if victim == 'webhook':
            time.sleep(self.dice.uniform(0, 0.5))
            self.start_webhook()


def move(parties, stored, operator_version, extra):
    """Changes the storage version and migrates; returns the time in seconds."""
    args, begin = parties.args, time.monotonic()
    manifest = parties.manifest(stored)
    apply = ['apply', manifest, '--operator', 'crontab', '--operator-version', operator_version, '--check-objects', *extra]
    parties.until_done('apply', apply, args.kills // 5, args.objects / 20_000)
    parties.until_done('migrate', ['migrate', CRD, '--rate', '1000000'], args.kills,
                       args.objects / args.rate / max(1, args.kills))
    return time.monotonic() - begin


def check(client, stored, before, originals):
    """Compares all objects with those of the beginning."""
    versions = client.definition()['status']['storedVersions']
    assert versions == [stored], f'storedVersions are {versions} instead of {[stored]}'
    found = client.objects(OLD)
    assert found.keys() == before.keys(), f'{len(before.keys() - found.keys())} objects are lost'
    changed = [name for name in before if kept(found[name]) != kept(before[name])]
    assert not changed, f'{len(changed)} objects changed, such as {before[changed[0]]} to {found[changed[0]]}'
    for name, item in client.objects(NEW).items():
        schedule, original = item['spec']['schedule'], originals[name]
        parts = ' '.join(schedule[key] for key in ('minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'))
        assert parts == original['spec']['schedule'], f'{name}: {parts} instead of {original["spec"]["schedule"]}'


def start_server(args, folder):
    data = folder / 'data'
    command = [args.kubesmith, 'serve', '--addr', '127.0.0.1:0', '--plain-http', '--data', str(data)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in server.stdout:
        if found := re.match(r'url: *(\S+)', line):
            return server, found[1]
    raise SystemExit('kubesmith serve did not start')


def write_kubeconfig(folder, url, token):
    config = {
        'apiVersion': 'v1', 'kind': 'Config', 'current-context': 'c',
        'clusters': [{'name': 'c', 'cluster': {'server': url, **({'insecure-skip-tls-verify': True} if url.startswith('https') else {})}}],
        'users': [{'name': 'u', 'user': {'token': token}}],
        'contexts': [{'name': 'c', 'context': {'cluster': 'c', 'user': 'u', 'namespace': 'default'}}],
    }
    (folder / 'kubeconfig').write_text(json.dumps(config))


def run(args, folder, url):
    write_kubeconfig(folder, url, args.token)
    client = Client(url, args.token)
    parties = Parties(args, folder, client)
    try:
        first = parties.kubesmith('apply', parties.manifest(OLD), '--operator', 'crontab', '--operator-version', '1.0.0')
        output, _ = first.communicate()
        assert first.returncode == 0, output
        dice = random.Random(args.seed)
        originals = {item['metadata']['name']: item for item in (tab(number, dice) for number in range(args.objects))}
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda item: client.send('POST', TABS.format(OLD), item), originals.values()))
        print(f'{args.objects} objects created in {time.monotonic() - begin:.0f} s')
        before = client.objects(OLD)
        assert before.keys() == originals.keys()
        seconds = move(parties, NEW, '2.0.0', [])
        check(client, NEW, before, originals)
        print(f'stored as {NEW} after {seconds:.0f} s with {len(parties.table)} kills: all objects are as they were')
        kills = len(parties.table)
        seconds = move(parties, OLD, '1.0.0', ['--downgrade'])
        check(client, OLD, before, originals)
        print(f'stored as {OLD} after {seconds:.0f} s with {len(parties.table) - kills} kills: all objects are as they were')
        print('\n| running | killed | last recorded object |\n|---|---|---|')
        for row in parties.table:
            print(f'| {" | ".join(row)} |')
    finally:
        parties.webhook.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--objects', type=int, default=100_000)
    parser.add_argument('--kills', type=int, default=20, help='kills in each direction while objects are migrated')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--rate', type=float, default=500, help='objects that are migrated in a second, which spreads the kills')
    parser.add_argument('--server')
    parser.add_argument('--token', default='')
    parser.add_argument('--kubesmith', default=ROOT / 'target/release/kubesmith')
    parser.add_argument('--webhook', default=ROOT / 'target/release/crontab-webhook')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, server = pathlib.Path(name), None
        url = args.server
        if not url:
            server, url = start_server(args, folder)
        try:
            run(args, folder, url)
        finally:
            if server:
                server.send_signal(signal.SIGINT)
                server.wait()


if __name__ == '__main__':
    main()
