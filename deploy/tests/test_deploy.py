"""The chart, the compose file, the Dockerfile and the shell scripts: linted, rendered, validated, and what they set tried on the program.

``make deploy-test`` runs it in an environment that has requirements.txt, with HELM and FAIRCOPY naming the two programs.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import kubernetes_validate
import yaml

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
CHART = ROOT / "helm/faircopy"
HELM = os.environ.get("HELM", "helm")
FAIRCOPY = os.environ.get("FAIRCOPY", str(ROOT / "target/debug/faircopy"))
KUBERNETES = "1.34"
CUSTOM = {"ServiceMonitor", "PrometheusRule", "ScaledObject"}
"""Kinds whose schemas their operators bring."""


def run(*command: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT, **more)


def template(values: Path) -> subprocess.CompletedProcess:
    return run(HELM, "template", "release", CHART, "--kube-version", KUBERNETES, "--values", values)


def rendered(values: Path) -> list[dict]:
    made = template(values)
    assert made.returncode == 0, f"{values.name}: {made.stderr}"
    return [d for d in yaml.safe_load_all(made.stdout) if d]


def of(documents: list[dict], kind: str) -> dict:
    (found,) = [d for d in documents if d["kind"] == kind and not d["metadata"]["name"].endswith("-topics")]
    return found


def check_settings(environment: dict[str, str], text: str) -> subprocess.CompletedProcess:
    """`faircopy config print` with these settings."""
    with tempfile.TemporaryDirectory() as d:
        file = Path(d) / "faircopy.toml"
        file.write_text(text)
        return run(FAIRCOPY, "config", "print", "--config", file, env={"PATH": os.environ["PATH"], **environment})


class Chart(unittest.TestCase):
    def test_it_lints_with_the_values_of_every_feature(self):
        for values in sorted((HERE / "values").glob("*.yaml")):
            done = run(HELM, "lint", "--strict", "--kube-version", KUBERNETES, CHART, "--values", values)
            self.assertEqual(done.returncode, 0, f"{values.name}: {done.stdout}{done.stderr}")

    def test_every_manifest_is_valid_to_kubernetes(self):
        for values in sorted((HERE / "values").glob("*.yaml")):
            for document in rendered(values):
                if document["kind"] not in CUSTOM:
                    kubernetes_validate.validate(document, KUBERNETES, strict=True)

    def test_values_that_contradict_each_other_are_refused_with_the_reason(self):
        files = sorted((HERE / "rejected").glob("*.yaml"))
        self.assertGreater(len(files), 5)
        for values in files:
            wanted = values.read_text().splitlines()[0].removeprefix("# ")
            done = template(values)
            self.assertNotEqual(done.returncode, 0, values.name)
            self.assertIn(wanted, done.stderr, values.name)

    def test_what_a_pod_sets_is_what_the_program_takes(self):
        for values in sorted((HERE / "values").glob("*.yaml")):
            documents = rendered(values)
            workload = next(d for d in documents if d["kind"] in ("Deployment", "StatefulSet"))
            (container,) = workload["spec"]["template"]["spec"]["containers"]
            environment = {e["name"]: e.get("value", "secret") for e in container["env"] if e["name"].startswith("FAIRCOPY__")}
            text = next(d for d in documents if d["kind"] == "ConfigMap" and "faircopy.toml" in d["data"])["data"]["faircopy.toml"]
            done = check_settings(environment, text)
            self.assertEqual(done.returncode, 0, f"{values.name}: {done.stderr}")
            asked = yaml.safe_load(values.read_text())
            self.assertIn(json.dumps(asked["kafka"]["brokers"]), done.stdout, values.name)

    def test_pods_are_hardened_probed_and_given_time_to_drain(self):
        for values in sorted((HERE / "values").glob("*.yaml")):
            for document in rendered(values):
                spec = document.get("spec", {}).get("template", {}).get("spec")
                if not spec:
                    continue
                self.assertTrue(spec["securityContext"]["runAsNonRoot"])
                self.assertFalse(spec["automountServiceAccountToken"])
                for container in spec["containers"]:
                    security = container["securityContext"]
                    self.assertTrue(security["readOnlyRootFilesystem"])
                    self.assertFalse(security["allowPrivilegeEscalation"])
                    self.assertEqual(security["capabilities"]["drop"], ["ALL"])
                if document["kind"] == "Job":
                    continue
                paths = [spec["containers"][0][p]["httpGet"]["path"] for p in ("livenessProbe", "readinessProbe")]
                self.assertEqual(paths, ["/livez", "/readyz"])
                self.assertGreater(spec["terminationGracePeriodSeconds"], 8)

    def test_scaling_is_capped_at_partitions_and_leaves_the_number_of_replicas_to_its_scaler(self):
        documents = rendered(HERE / "values/keda.yaml")
        self.assertEqual(of(documents, "ScaledObject")["spec"]["maxReplicaCount"], 6)
        self.assertNotIn("replicas", of(documents, "Deployment")["spec"])
        self.assertEqual(of(rendered(HERE / "values/hpa.yaml"), "HorizontalPodAutoscaler")["spec"]["maxReplicas"], 4)

    def test_profiles_change_without_new_pods_and_settings_with_them(self):
        def sums(**values: str) -> str:
            with tempfile.TemporaryDirectory() as d:
                file = Path(d) / "values.yaml"
                file.write_text(yaml.safe_dump({"kafka": {"brokers": "k:9092"}, **values}))
                return of(rendered(file), "Deployment")["spec"]["template"]["metadata"]["annotations"]["checksum/config"]

        plain = sums()
        self.assertEqual(plain, sums(profiles="[profiles.a]\nlookahead = 3\n"))
        self.assertNotEqual(plain, sums(settings="[decode]\nsession_ttl_ms = 5\n"))

    def test_only_a_stateful_set_has_static_members(self):
        names = lambda kind, values: [e["name"] for e in of(rendered(HERE / f"values/{values}.yaml"), kind)["spec"]["template"]["spec"]["containers"][0]["env"]]
        static = "FAIRCOPY__KAFKA__PROPERTIES__GROUP_INSTANCE_ID"
        self.assertIn(static, names("StatefulSet", "statefulset"))
        self.assertNotIn(static, names("Deployment", "default"))

    def test_alerts_are_those_of_the_observability_files(self):
        rule = of(rendered(HERE / "values/everything.yaml"), "PrometheusRule")["spec"]
        self.assertEqual(rule, yaml.safe_load((ROOT / "deploy/observability/alerts.yaml").read_text()))
        for alert in rule["groups"][0]["rules"]:
            self.assertTrue(alert["annotations"]["summary"] and alert["annotations"]["action"], alert["alert"])

    def test_packs_and_files_are_mounted_where_settings_look_for_them(self):
        (container,) = of(rendered(HERE / "values/everything.yaml"), "Deployment")["spec"]["template"]["spec"]["containers"]
        mounts = {m["mountPath"] for m in container["volumeMounts"]}
        self.assertLessEqual({"/etc/faircopy/files", "/etc/faircopy/packs/house"}, mounts)


class Files(unittest.TestCase):
    def test_the_compose_file_is_valid_and_its_worker_takes_its_settings(self):
        path = ROOT / "deploy/compose.yaml"
        done = run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", path)
        self.assertEqual(done.returncode, 0, done.stdout)
        compose = yaml.safe_load(path.read_text())
        for name in ("worker", "topics"):
            service = compose["services"][name]
            done = check_settings(service["environment"], "")
            self.assertEqual(done.returncode, 0, done.stderr)
        for service in compose["services"].values():
            for mount in service.get("volumes", []):
                if mount.startswith("."):
                    self.assertTrue((path.parent / mount.split(":")[0]).exists(), mount)
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), port)

    def test_dashboard_and_data_source_agree(self):
        dashboard = json.loads((ROOT / "deploy/observability/dashboard.json").read_text())
        self.assertTrue(all(p["targets"] and p["title"] for p in dashboard["panels"]))
        sources = yaml.safe_load((ROOT / "deploy/observability/grafana/datasources/prometheus.yaml").read_text())
        self.assertEqual(sources["datasources"][0]["type"], "prometheus")

    def test_the_dockerfile_and_the_shell_scripts_lint(self):
        done = run("hadolint", "--ignore", "DL3008", ROOT / "deploy/Dockerfile")
        self.assertEqual(done.returncode, 0, done.stdout)
        tracked = run("git", "ls-files").stdout.split()
        scripts = [f for f in tracked if f.endswith(".sh") or f == ".ci/run"]
        self.assertGreater(len(scripts), 4)
        done = run("shellcheck", *scripts)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_what_the_dockerfile_copies_is_there(self):
        for line in (ROOT / "deploy/Dockerfile").read_text().splitlines():
            words = line.split()
            if words[:1] == ["COPY"] and not words[1].startswith("--") and words[1] != ".":
                self.assertTrue((ROOT / words[1]).exists(), line)


if __name__ == "__main__":
    unittest.main()
