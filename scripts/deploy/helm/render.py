"""Renders a chart as `helm template` does, once for each set of values of a JSON list in stdin.

Prints a JSON list: the manifest of each set, or what Helm says about values that it refuses.
"""

import json
import sys

import helm_python as helm

NAME, NAMESPACE = "gateway", "models"


def rendered(folder, chart, values):
    try:
        chart.validate_schema(values)
        parts = chart.render(values, name=NAME, namespace=NAMESPACE)
        # The oldest Kubernetes of the chart.
        report = helm.lint(folder, values, namespace=NAMESPACE, kube_version="v1.25.0")
    except helm.HelmError as error:
        return {"problem": str(error)}
    found = [one["error"] for one in report["messages"] if one["severity"] > 1]
    if found:
        return {"problem": "\n".join(found)}
    manifests = [
        f"---\n# Source: {path}\n{text.strip()}\n"
        for path, text in sorted(parts.items())
        if text.strip() and path.endswith(".yaml")
    ]
    return {"manifest": "".join(manifests)}


with helm.Chart.load(sys.argv[1]) as chart:
    print(json.dumps([rendered(sys.argv[1], chart, values) for values in json.load(sys.stdin)]))
