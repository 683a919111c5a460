"""What workers may reach, and who may reach them."""

import unittest

from chart import container, made_of, of, rendered


def egress(made: list[dict]) -> set[int]:
    (rule,) = of(made, "NetworkPolicy")["spec"]["egress"]
    return {p["port"] for p in rule["ports"]}


class Network(unittest.TestCase):
    def test_there_is_no_policy_unless_it_is_asked_for(self):
        self.assertFalse([d for d in made_of() if d["kind"] == "NetworkPolicy"])

    def test_its_ports_are_those_that_the_settings_name(self):
        on = {"enabled": True}
        for brokers, ports in (
            ("k:9092", {9092}),
            ("a:9093, b:9093,c:9094", {9093, 9094}),
            ("without-a-port", {9092}),
            ("[fd00::1]:9096", {9096}),
            ("SASL_SSL://k:29093", {29093}),
        ):
            self.assertEqual(egress(made_of(networkPolicy=on, kafka={"brokers": brokers})), {53} | ports, brokers)
        self.assertEqual(egress(made_of(networkPolicy=on, telemetry={"otlp": "http://collector:4318/v1"})), {53, 9092, 4318})
        self.assertEqual(egress(made_of(networkPolicy=on, telemetry={"otlp": "http://collector"})), {53, 9092, 80})
        self.assertEqual(egress(made_of(networkPolicy=on, telemetry={"otlp": "https://collector"})), {53, 9092, 443})
        self.assertEqual(egress(made_of(networkPolicy={**on, "extraEgressPorts": [19092, 9092]})), {53, 9092, 19092})
        for url, port in (("https://sign-in.example/token", 443), ("https://sign-in.example:8443/realms/a", 8443)):
            kafka = {"brokers": "k:9093", "properties": {"sasl.oauthbearer.token.endpoint.url": url}}
            self.assertEqual(egress(made_of(networkPolicy=on, kafka=kafka)), {53, 9093, port})

    def test_who_signs_in_to_amazon_msk_by_iam_reaches_what_gives_credentials(self):
        for mechanism, ports in (("AWS_MSK_IAM", {53, 9098, 443}), ("SCRAM-SHA-512", {53, 9098})):
            kafka = {"brokers": "b-1.kafka.eu-west-1.amazonaws.com:9098", "properties": {"sasl.mechanism": mechanism}}
            self.assertEqual(egress(made_of(networkPolicy={"enabled": True}, kafka=kafka)), ports)

    def test_prometheus_gets_in_where_it_is_told_to_come(self):
        ingress = lambda **values: of(made_of(networkPolicy={"enabled": True}, **values), "NetworkPolicy")["spec"]["ingress"]
        self.assertEqual(ingress(), [])
        (rule,) = ingress(serviceMonitor={"enabled": True})
        (who,) = rule["from"]
        self.assertEqual(who, {"namespaceSelector": {}, "podSelector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}})
        # The monitor's port, the policy's, the service's and the container's are one.
        made = rendered("everything")
        (endpoint,) = of(made, "ServiceMonitor")["spec"]["endpoints"]
        (port,) = of(made, "Service")["spec"]["ports"]
        (open_to,) = of(made, "NetworkPolicy")["spec"]["ingress"][0]["ports"]
        (of_container,) = container(made)["ports"]
        self.assertEqual(endpoint["port"], port["name"])
        self.assertEqual((port["targetPort"], open_to["port"]), (of_container["name"],) * 2)
        self.assertEqual(of_container["containerPort"], 9500)
        labels = of(made, "Service")["metadata"]["labels"]
        self.assertLessEqual(of(made, "ServiceMonitor")["spec"]["selector"]["matchLabels"].items(), labels.items())

    def test_namespaces_that_are_named_replace_the_guess(self):
        (rule,) = of(rendered("everything"), "NetworkPolicy")["spec"]["ingress"]
        self.assertEqual(rule["from"], [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}])


if __name__ == "__main__":
    unittest.main()
