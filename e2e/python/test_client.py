"""The official Python client, unmodified, against the embedded API server; KUBECONFIG says where it is."""

import json
import unittest

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

GROUP, VERSION, PLURAL, NAMESPACE = "shop.example.com", "v1", "shirts", "python"


def shirt(name, color="blue", **spec):
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Shirt",
        "metadata": {"name": name, "labels": {"app": "python"}},
        "spec": {"color": color, **spec},
    }


class PythonClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.load_kube_config()
        cls.core = client.CoreV1Api()
        cls.custom = client.CustomObjectsApi()
        cls.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
        cls.addClassCleanup(cls.core.delete_namespace, NAMESPACE)

    def setUp(self):
        self.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL)

    def create(self, body, **options):
        return self.custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, body, **options)

    def refused(self, status, reason, call, *args, **kwargs):
        with self.assertRaises(ApiException) as caught:
            call(*args, **kwargs)
        self.assertEqual(caught.exception.status, status)
        answer = json.loads(caught.exception.body)
        self.assertEqual(answer["kind"], "Status")
        self.assertEqual(answer["reason"], reason)
        return answer

    def test_typed_objects_live_their_life(self):
        data = client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="settings-"), data={"a": "1"})
        stored = self.core.create_namespaced_config_map(NAMESPACE, data)
        name = stored.metadata.name
        self.assertTrue(name.startswith("settings-") and stored.metadata.uid)
        self.assertIsNotNone(stored.metadata.creation_timestamp.tzinfo)

        stored.data["a"] = "2"
        newer = self.core.replace_namespaced_config_map(name, NAMESPACE, stored)
        self.assertNotEqual(newer.metadata.resource_version, stored.metadata.resource_version)
        self.refused(409, "Conflict", self.core.replace_namespaced_config_map, name, NAMESPACE, stored)
        self.core.patch_namespaced_config_map(name, NAMESPACE, {"data": {"b": "3"}})
        self.assertEqual(self.core.read_namespaced_config_map(name, NAMESPACE).data, {"a": "2", "b": "3"})

        self.core.delete_namespaced_config_map(name, NAMESPACE)
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, name, NAMESPACE)

    def test_a_pod_is_defaulted_and_bound_by_a_selector(self):
        container = client.V1Container(name="main", image="nginx", ports=[client.V1ContainerPort(container_port=80)])
        pod = client.V1Pod(
            metadata=client.V1ObjectMeta(name="web", labels={"app": "web"}), spec=client.V1PodSpec(containers=[container])
        )
        stored = self.core.create_namespaced_pod(NAMESPACE, pod)
        self.assertEqual(stored.spec.restart_policy, "Always")
        self.assertEqual(stored.spec.containers[0].ports[0].protocol, "TCP")
        found = self.core.list_namespaced_pod(NAMESPACE, label_selector="app in (web)", field_selector="metadata.name=web")
        self.assertEqual([p.metadata.name for p in found.items], ["web"])
        none = self.core.list_namespaced_pod(NAMESPACE, label_selector="app notin (web)")
        self.assertEqual(none.items, [])

    def test_custom_objects_are_defaulted_checked_and_scaled(self):
        stored = self.create(shirt("plain"))
        self.assertEqual(stored["spec"]["replicas"], 1)
        self.assertEqual(stored["metadata"]["generation"], 1)
        answer = self.refused(422, "Invalid", self.create, shirt("bad", replicas=-1))
        self.assertEqual(answer["details"]["causes"][0]["field"], "spec.replicas")
        self.refused(409, "AlreadyExists", self.create, shirt("plain"))

        self.custom.patch_namespaced_custom_object_scale(
            GROUP, VERSION, NAMESPACE, PLURAL, "plain", {"spec": {"replicas": 5}}
        )
        scale = self.custom.get_namespaced_custom_object_scale(GROUP, VERSION, NAMESPACE, PLURAL, "plain")
        self.assertEqual(scale["spec"]["replicas"], 5)
        status = self.custom.patch_namespaced_custom_object_status(
            GROUP, VERSION, NAMESPACE, PLURAL, "plain", {"status": {"replicas": 5}, "spec": {"color": "red"}}
        )
        self.assertEqual((status["status"]["replicas"], status["spec"]["color"]), (5, "blue"))

    def test_pages_and_field_selectors(self):
        for i in range(7):
            self.create(shirt(f"s{i}", color="red" if i % 2 else "blue"))
        names, token = [], None
        while True:
            page = self.custom.list_namespaced_custom_object(
                GROUP, VERSION, NAMESPACE, PLURAL, limit=3, **({"_continue": token} if token else {})
            )
            names += [item["metadata"]["name"] for item in page["items"]]
            token = page["metadata"].get("continue")
            if not token:
                break
        self.assertEqual(names, [f"s{i}" for i in range(7)])
        red = self.custom.list_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, PLURAL, field_selector="spec.color=red"
        )
        self.assertEqual([item["metadata"]["name"] for item in red["items"]], ["s1", "s3", "s5"])

    def test_a_watch_sees_each_change_in_order(self):
        start = self.custom.list_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL)["metadata"]["resourceVersion"]
        self.create(shirt("watched"))
        self.custom.patch_namespaced_custom_object(
            GROUP, VERSION, NAMESPACE, PLURAL, "watched", {"spec": {"note": "x"}}
        )
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, NAMESPACE, PLURAL, "watched")
        stream = watch.Watch().stream(
            self.custom.list_namespaced_custom_object, GROUP, VERSION, NAMESPACE, PLURAL,
            resource_version=start, timeout_seconds=2,
        )
        seen = [(event["type"], event["object"]["metadata"]["name"]) for event in stream]
        self.assertEqual(seen, [("ADDED", "watched"), ("MODIFIED", "watched"), ("DELETED", "watched")])

    def test_the_dynamic_client_applies(self):
        dyn = dynamic.DynamicClient(client.ApiClient())
        shirts = dyn.resources.get(api_version=f"{GROUP}/{VERSION}", kind="Shirt")
        body = shirt("applied", buttons=[{"name": "top"}])
        applied = shirts.server_side_apply(body=body, name="applied", namespace=NAMESPACE, field_manager="tailor")
        self.assertEqual(applied.spec.buttons[0].holes, 4)
        self.assertEqual(applied.metadata.managedFields[0].manager, "tailor")
        with self.assertRaises(dynamic.exceptions.ConflictError):
            shirts.server_side_apply(
                body=shirt("applied", color="red"), name="applied", namespace=NAMESPACE, field_manager="painter"
            )
        forced = shirts.server_side_apply(
            body=shirt("applied", color="red"), name="applied", namespace=NAMESPACE, field_manager="painter",
            force_conflicts=True,
        )
        self.assertEqual(forced.spec.color, "red")

    def test_manifests_become_objects(self):
        api = client.ApiClient()
        manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "made"}, "stringData": {"key": "value"}}
        utils.create_from_dict(api, manifest, namespace=NAMESPACE)
        secret = self.core.read_namespaced_secret("made", NAMESPACE)
        self.assertEqual(secret.data, {"key": "dmFsdWU="})
        with self.assertRaises(utils.FailToCreateError):
            utils.create_from_dict(api, manifest, namespace=NAMESPACE)

    def test_leases_events_and_access_reviews(self):
        lease = client.V1Lease(
            metadata=client.V1ObjectMeta(name="leader"),
            spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15),
        )
        stored = client.CoordinationV1Api().create_namespaced_lease(NAMESPACE, lease)
        self.assertEqual(stored.spec.holder_identity, "me")
        review = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(
                resource_attributes=client.V1ResourceAttributes(verb="get", resource="pods", namespace=NAMESPACE)
            )
        )
        self.assertTrue(client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed)
        crd = client.ApiextensionsV1Api().read_custom_resource_definition(f"{PLURAL}.{GROUP}")
        self.assertIn("v1", crd.status.stored_versions)

    def test_a_namespace_goes_with_what_is_in_it(self):
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="passing")))
        self.core.create_namespaced_config_map("passing", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="x")))
        self.core.delete_namespace("passing")
        for event in watch.Watch().stream(
            self.core.list_namespace, field_selector="metadata.name=passing", timeout_seconds=5
        ):
            if event["type"] == "DELETED":
                break
        self.refused(404, "NotFound", self.core.read_namespaced_config_map, "x", "passing")


if __name__ == "__main__":
    unittest.main()
