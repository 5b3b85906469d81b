// The official JavaScript client, unmodified, against the embedded API server; KUBECONFIG says where it is.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as k8s from "@kubernetes/client-node";

const group = "shop.example.com", version = "v1", plural = "shirts", namespace = "node";
const place = { group, version, plural, namespace };
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);

const shirt = (name, spec = {}) => ({
  apiVersion: `${group}/${version}`,
  kind: "Shirt",
  metadata: { name, namespace },
  spec: { color: "blue", ...spec },
});

/** Resolves when `check` holds; the test's own timeout ends the waiting. */
async function until(check) {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 10));
}

before(() => core.createNamespace({ body: { metadata: { name: namespace } } }));
after(() => core.deleteNamespace({ name: namespace }));

test("typed objects live their life", async () => {
  const body = { metadata: { generateName: "settings-" }, data: { a: "1" } };
  const stored = await core.createNamespacedConfigMap({ namespace, body });
  const name = stored.metadata.name;
  assert.ok(name.startsWith("settings-"));
  assert.ok(stored.metadata.creationTimestamp instanceof Date);

  await core.replaceNamespacedConfigMap({ name, namespace, body: { ...stored, data: { a: "2" } } });
  await assert.rejects(
    core.replaceNamespacedConfigMap({ name, namespace, body: { ...stored, data: { a: "3" } } }),
    (error) => error.code === 409 && JSON.parse(error.body).reason === "Conflict",
  );
  await core.deleteNamespacedConfigMap({ name, namespace });
  await assert.rejects(core.readNamespacedConfigMap({ name, namespace }), { code: 404 });
});

test("custom objects are defaulted, checked and listed by page", async () => {
  const stored = await custom.createNamespacedCustomObject({ ...place, body: shirt("plain") });
  assert.equal(stored.spec.replicas, 1);
  await assert.rejects(
    custom.createNamespacedCustomObject({ ...place, body: shirt("bad", { replicas: -1 }) }),
    (error) => error.code === 422 && JSON.parse(error.body).details.causes[0].field === "spec.replicas",
  );
  await custom.createNamespacedCustomObject({ ...place, body: shirt("red", { color: "red" }) });
  const red = await custom.listNamespacedCustomObject({ ...place, fieldSelector: "spec.color=red" });
  assert.deepEqual(red.items.map((item) => item.metadata.name), ["red"]);
  const first = await custom.listNamespacedCustomObject({ ...place, limit: 1 });
  const rest = await custom.listNamespacedCustomObject({ ...place, limit: 9, _continue: first.metadata.continue });
  assert.deepEqual([...first.items, ...rest.items].map((item) => item.metadata.name), ["plain", "red"]);
});

test("the object API patches, applies and deletes any kind", async () => {
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const applied = await objects.patch(
    shirt("applied", { buttons: [{ name: "top" }] }), undefined, undefined, "tailor", undefined, k8s.PatchStrategy.ServerSideApply,
  );
  assert.equal(applied.spec.buttons[0].holes, 4);
  const merged = await objects.patch(
    { ...shirt("applied"), spec: { note: "x" } }, undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch,
  );
  assert.equal(merged.spec.note, "x");
  await assert.rejects(
    objects.patch(
      shirt("applied", { color: "red" }), undefined, undefined, "painter", undefined, k8s.PatchStrategy.ServerSideApply,
    ),
    { code: 409 },
  );
  await objects.delete(shirt("applied"));
  await assert.rejects(objects.read(shirt("applied")), { code: 404 });
});

test("a watch sees each change in order", { timeout: 20_000 }, async () => {
  const list = await core.listNamespacedSecret({ namespace });
  const seen = [];
  let over = false;
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const watch = await new k8s.Watch(config).watch(
    path,
    { resourceVersion: list.metadata.resourceVersion },
    (type, object) => seen.push(`${type} ${object.metadata.name}`),
    () => { over = true; },
  );
  const body = { metadata: { name: "watched" }, stringData: { a: "1" } };
  await core.createNamespacedSecret({ namespace, body });
  await core.replaceNamespacedSecret({ name: "watched", namespace, body: { ...body, stringData: { a: "2" } } });
  await core.deleteNamespacedSecret({ name: "watched", namespace });
  await until(() => seen.length >= 3);
  watch.abort();
  await until(() => over);
  assert.deepEqual(seen, ["ADDED watched", "MODIFIED watched", "DELETED watched"]);
});

test("an informer follows a custom resource", { timeout: 20_000 }, async () => {
  const list = () => custom.listNamespacedCustomObject(place);
  const informer = k8s.makeInformer(config, `/apis/${group}/${version}/namespaces/${namespace}/${plural}`, list);
  const seen = [];
  for (const verb of ["add", "update", "delete"]) {
    informer.on(verb, (object) => object.metadata.name === "followed" && seen.push(verb));
  }
  informer.on("error", (error) => seen.push(error));
  await informer.start();
  await custom.createNamespacedCustomObject({ ...place, body: shirt("followed") });
  await until(() => seen.includes("add"));
  const found = await custom.getNamespacedCustomObject({ ...place, name: "followed" });
  await custom.replaceNamespacedCustomObject({
    ...place, name: "followed", body: { ...found, spec: { ...found.spec, note: "x" } },
  });
  await until(() => seen.includes("update"));
  await custom.deleteNamespacedCustomObject({ ...place, name: "followed" });
  await until(() => seen.includes("delete"));
  assert.deepEqual(seen, ["add", "update", "delete"]);
  // Stopping reports the watch that it breaks off as an error.
  await informer.stop();
});
