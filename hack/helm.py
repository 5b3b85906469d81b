#!/usr/bin/env python3
"""Runs Helm's Go library as the command helm, where the package manager has no Helm.

helm.py version
helm.py template NAME CHART          prints the objects
helm.py lint CHART
helm.py upgrade --install NAME CHART

Options: --values FILE, --namespace NAME, --create-namespace, --wait. HELM_LIBRARY is the folder with the package
helm-python-sdk, which contains the library.
"""
import argparse, os, pathlib, sys

sys.path.insert(0, os.environ['HELM_LIBRARY'])
import helm_python as helm
from helm_python import chart as charts


def template(args, values):
    with helm.Chart.load(args.chart) as chart:
        for path, text in chart.render(values, name=args.name, namespace=args.namespace).items():
            if text.strip() and not path.endswith('NOTES.txt'):
                print(f'---\n# Source: {path}\n{text}')


def lint(args, values):
    report = charts.lint(args.chart, values, namespace=args.namespace)
    for message in report['messages']:
        print('[{}] {}: {}'.format(['UNKNOWN', 'INFO', 'WARNING', 'ERROR'][message['severity']], message['path'], message['error']))
    if any(message['severity'] > 2 for message in report['messages']):
        raise SystemExit(1)


def upgrade(args, values):
    config = helm.Config(kubeconfig_path=os.environ.get('KUBECONFIG'), namespace=args.namespace)
    more = {'namespace': args.namespace, 'wait': 'watcher' if args.wait else None, 'timeout': 300}
    try:
        config.history(args.name)
    except helm.HelmError:
        config.install(args.chart, args.name, values, create_namespace=args.create_namespace, **more)
    else:
        config.upgrade(args.chart, args.name, values, **more)
    print(f'Release "{args.name}" has been upgraded. Happy Helming!')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    commands.add_parser('version').set_defaults(run=lambda args, values: print(helm.helm_sdk_version()))
    for name, run in [('template', template), ('lint', lint), ('upgrade', upgrade)]:
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if name != 'lint':
            command.add_argument('name')
        command.add_argument('chart')
        command.add_argument('--values')
        command.add_argument('--namespace', default='default')
        if name == 'upgrade':
            for flag in ['--install', '--create-namespace', '--wait']:
                command.add_argument(flag, action='store_true')
    args = parser.parse_args()
    values = getattr(args, 'values', None)
    try:
        args.run(args, charts.values_from_yaml(pathlib.Path(values).read_text()) if values else {})
    except helm.HelmError as error:
        raise SystemExit(f'Error: {error}')


if __name__ == '__main__':
    main()
