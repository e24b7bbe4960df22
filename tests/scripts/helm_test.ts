import { Ajv2020 } from "ajv/dist/2020.js";
import { parse, parseAllDocuments } from "yaml";
import manifest from "../../deno.json" with { type: "json" };
import schema from "../../scripts/deploy/helm/switchyard/values.schema.json" with { type: "json" };
import {
  CASE_NAMES,
  casePath,
  caseText,
  digestOf,
  findHelm,
  render,
  type Rendered,
  valuesOf,
} from "../../scripts/deploy/helm/render.ts";
import { unpackWheel } from "../../scripts/tools/python_wheel.ts";
import { parseConfig } from "../../src/config/load.ts";
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

const CHART = new URL("../../scripts/deploy/helm/switchyard/", import.meta.url);
const RECIPE = new URL("../../scripts/deploy/kubernetes/switchyard.yaml", import.meta.url);

/** Schemas of Kubernetes for each of its versions; the digest is that of the wheel. */
const SCHEMAS = "kubernetes-validate==1.37.0";
const SCHEMAS_SHA256 = "85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9";

/** The oldest version that the chart allows, and the newest one of the package. */
const VERSIONS = ["v1.25.0", "v1.37.0"];

function read(name: string): Promise<string> {
  return Deno.readTextFile(new URL(name, CHART));
}

/** Returns the objects in a text of manifests. */
function objectsIn(text: string): readonly JsonObject[] {
  return parseAllDocuments(text).map((document): unknown => document.toJS()).filter(isObject);
}

/** Returns the objects that a case renders, by their kinds. */
async function rendered(name: string): Promise<Readonly<Record<string, JsonObject>>> {
  const objects = objectsIn(await Deno.readTextFile(casePath(name, "manifest.yaml")));
  return Object.fromEntries(objects.map((one) => [String(one.kind), one]));
}

/** The parts of a manifest that tests look at, as untyped values. */
// deno-lint-ignore no-explicit-any
type Loose = any;

/** Returns a function that returns the problems of an object by the schema of its kind. */
async function newKubernetesCheck(folder: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const read = async (name: string): Promise<Loose> =>
    parseJson(await Deno.readTextFile(`${folder}/${name}.json`));
  ajv.addSchema(await read("_definitions"));
  return async (object: JsonObject): Promise<readonly string[]> => {
    const group = String(object.apiVersion).replace(/\.k8s\.io/, "").replace("/", "-");
    const schema = await read(`${String(object.kind).toLowerCase()}-${group}`);
    const validate = ajv.getSchema(schema.$id) ?? ajv.compile(schema);
    validate(object);
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
  };
}

const wheel = await unpackWheel(SCHEMAS, SCHEMAS_SHA256, "kubernetes_validate/version.py");

/** Registers a test, which is listed as ignored where `missing` says what the machine lacks. */
function testUnless(missing: string | null, name: string, fn: () => Promise<void>): void {
  Deno.test(
    missing === null ? { name, fn } : { name: `${name} (ignored: ${missing})`, ignore: true, fn },
  );
}

testUnless(
  wheel.ok ? null : wheel.reason,
  "what the chart renders is valid for the oldest and the newest Kubernetes, a misspelt member is not",
  async () => {
    assert(wheel.ok);
    const folder = wheel.path.replace(/[^/]*$/, "kubernetes-json-schema");
    for (const version of VERSIONS) {
      const problemsOf = await newKubernetesCheck(`${folder}/${version}-local-strict`);
      for (const name of CASE_NAMES) {
        for (const object of Object.values(await rendered(name))) {
          assertEquals(await problemsOf(object), [], `${name}: ${String(object.kind)}`);
        }
      }
      for (const object of objectsIn(await Deno.readTextFile(RECIPE))) {
        assertEquals(await problemsOf(object), []);
      }
      const broken: Loose = (await rendered("default")).Deployment;
      broken.spec.template.spec.containers[0].imag = "x";
      broken.spec.replicas = "two";
      assertEquals((await problemsOf(broken)).length, 2);
    }
  },
);

const helm = await findHelm();
const missingHelm = helm.ok ? null : helm.reason;

/** All sets of values that tests render: Helm starts once. */
const valueSets: JsonObject[] = [];
let allRendered: Promise<readonly Rendered[]> | null = null;

/** Registers sets of values. Returns a function that returns what Helm makes of them. */
function rendering(sets: readonly JsonObject[]): () => Promise<readonly Rendered[]> {
  const from = valueSets.length;
  valueSets.push(...sets);
  return async () => {
    assert(helm.ok);
    allRendered ??= render(helm.path, valueSets);
    return (await allRendered).slice(from, from + sets.length);
  };
}

const renderedCases = rendering(await Promise.all(CASE_NAMES.map(valuesOf)));

/** Values that Helm refuses, with the problem. */
const REFUSED = [
  [{ config: "server: {host: 127.0.0.1}" }, /set server\.host to/],
  [{ config: 'server: {host: 0.0.0.0, port: "${PORT}"}' }, /server\.port must be a number/],
  [{ config: "server: {host: 0.0.0.0, port: 0}" }, /server\.port must be a number/],
  [{ config: "a: [" }, /config is no YAML/],
  [{ ingress: { enabled: true, tlsSecret: "a" } }, /ingress\.host is needed/],
  [{ serviceAccount: { annotations: { a: "b" } } }, /annotations need serviceAccount\.create/],
  // For Helm null removes a default; a section is switched off by its member.
  ...["image", "config", "serviceAccount", "service", "ingress", "autoscaling"].map((name) =>
    [{ [name]: null }, new RegExp(`missing property '${name}'`)] as const
  ),
  [{ podDisruptionBudget: null }, /missing property 'podDisruptionBudget'/],
  [{ podDisruptionBudget: { maxUnavailable: null } }, /missing property 'maxUnavailable'/],
  [{ service: { port: null } }, /missing property 'port'/],
  [{ autoscaling: { enabled: true, maxReplicas: null } }, /missing property 'maxReplicas'/],
] as const;

const renderedRefused = rendering(REFUSED.map(([values]) => values));

const INDENTED = "  # A file whose lines are all indented.\n  server:\n    host: 0.0.0.0\n";

const renderedIndented = rendering([{ config: INDENTED }]);

testUnless(
  missingHelm,
  "Helm accepts the chart, and renders the manifests of the repository",
  async () => {
    for (const [index, one] of (await renderedCases()).entries()) {
      const name = CASE_NAMES[index] ?? "";
      const manifest = await Deno.readTextFile(casePath(name, "manifest.yaml"));
      assertEquals(await caseText(name, one), manifest, name);
    }
    const problems = await renderedRefused();
    for (const [index, [, pattern]] of REFUSED.entries()) {
      assertMatch(problems[index]?.problem ?? "", pattern);
    }
    const [one] = await renderedIndented();
    const { data }: Loose = objectsIn(one?.manifest ?? "").find(({ kind }) => kind === "ConfigMap");
    assertEquals(parse(data["config.yaml"]), { server: { host: "0.0.0.0" } });
  },
);

const ODD_CONFIG = "      \n    # Indented more than what follows.\nserver:\n  host: 0.0.0.0\n";

const renderedOdd = rendering([{
  config: ODD_CONFIG,
  keysSecret: "1",
  imagePullSecrets: ["02"],
  serviceAccount: { create: true, name: "3" },
  ingress: { enabled: true, host: "4", className: "5", tlsSecret: "6" },
}]);

testUnless(
  missingHelm,
  "a configuration arrives as it is, whatever its first line, and names of digits are texts",
  async () => {
    const [one] = await renderedOdd();
    assertEquals(one?.problem, undefined);
    const objects = objectsIn(one?.manifest ?? "");
    const { ConfigMap, Deployment, Ingress, ServiceAccount }: Loose = Object.fromEntries(
      objects.map((object) => [String(object.kind), object]),
    );
    assertEquals(ConfigMap.data["config.yaml"], ODD_CONFIG);
    const pod = Deployment.spec.template.spec;
    assertEquals(pod.containers[0].envFrom, [{ secretRef: { name: "1" } }]);
    assertEquals(pod.imagePullSecrets, [{ name: "02" }]);
    assertEquals([pod.serviceAccountName, ServiceAccount.metadata.name], ["3", "3"]);
    const { ingressClassName, rules, tls } = Ingress.spec;
    assertEquals([rules[0].host, ingressClassName], ["4", "5"]);
    assertEquals(tls, [{ secretName: "6", hosts: ["4"] }]);
  },
);

/** Values that sections which are off need besides one value. */
const SWITCHED: Readonly<Record<string, JsonObject>> = {
  ingress: { enabled: true, host: "models.example.com" },
  autoscaling: { enabled: true },
  serviceAccount: { create: true },
};

/** A text that is in no manifest. */
const MARK = "marked-value";

/** Values for those of which no text, number or member of an object is rendered as it is. */
const OWN: Readonly<Record<string, readonly [value: JsonValue, shown: string]>> = {
  config: [`server: {host: "::", port: 9876}`, "containerPort: 9876"],
  "image.pullPolicy": ["Always", "imagePullPolicy: Always"],
  imagePullSecrets: [[MARK], `- name: "${MARK}"`],
  "serviceAccount.create": [true, "kind: ServiceAccount"],
  "service.type": ["NodePort", "type: NodePort"],
  "ingress.enabled": [true, "kind: Ingress"],
  "autoscaling.enabled": [true, "kind: HorizontalPodAutoscaler"],
  "podDisruptionBudget.enabled": [false, ""],
};

/** Returns the values with this one at a path, in a section that is made. */
function valuesWith(path: string, value: JsonValue): JsonObject {
  const [section = "", member] = path.split(".");
  if (member === undefined) return { [section]: value };
  return { [section]: { ...SWITCHED[section], [member]: value } };
}

/** Returns a value of the type of a schema, and what a manifest with it has. */
function exampleOf(path: string, { type }: Loose): readonly [value: JsonValue, shown: string] {
  if (OWN[path] !== undefined) return OWN[path];
  const types = [type].flat();
  if (types.includes("integer")) return [37, ": 37"];
  if (types.includes("array")) return [[{ name: MARK }], `name: ${MARK}`];
  return types.includes("object") ? [{ name: MARK }, `name: ${MARK}`] : [MARK, MARK];
}

/** Returns a value that is not of the type of a schema. */
function wrongFor({ type }: Loose): JsonValue {
  return [type].flat().includes("array") ? { a: "b" } : ["no"];
}

/** An example of each value, with what a manifest with it has. */
const EXAMPLES = knownValues(schema)
  .filter(([, { properties }]) => properties === undefined)
  .map(([path, part]) => [path, ...exampleOf(path, part)] as const);

const renderedExamples = rendering([
  {},
  ...EXAMPLES.map(([path, value]) => valuesWith(path, value)),
]);

testUnless(missingHelm, "every value of the chart is rendered", async () => {
  const [usual, ...changed] = await renderedExamples();
  for (const [index, [path, , shown]] of EXAMPLES.entries()) {
    const { manifest, problem } = changed[index] ?? {};
    assert(manifest !== undefined, `${path}: ${problem}`);
    const before = usual?.manifest ?? "";
    assert(manifest !== before && manifest.includes(shown), path);
    // A value that is switched off is shown by what is gone.
    assert(shown === "" || !before.includes(shown), path);
  }
});

const WRONG = knownValues(schema).flatMap(([path, part]) => [
  [path, valuesWith(path, wrongFor(part))] as const,
  [path, valuesWith(`${path}s`, 1)] as const,
]);

const renderedWrong = rendering(WRONG.map(([, values]) => values));

testUnless(missingHelm, "Helm refuses a value of another type, and an unknown one", async () => {
  const problems = await renderedWrong();
  for (const [index, [path]] of WRONG.entries()) {
    assertMatch(problems[index]?.problem ?? "", /at '.*': /, path);
  }
});

Deno.test("the rendered manifests are those of the present chart: run scripts/deploy/helm/render.ts", async () => {
  assertEquals([...CASE_NAMES], ["default", "public"]);
  for (const name of CASE_NAMES) {
    const [first] = (await Deno.readTextFile(casePath(name, "manifest.yaml"))).split("\n");
    assertEquals(first, `# ${await digestOf(name)}`, name);
  }
});

Deno.test("the chart without values is the Kubernetes recipe, with bounds and a disruption budget", async () => {
  const recipe = objectsIn(await Deno.readTextFile(RECIPE));
  const [map, deployment]: Loose = recipe;
  const chart: Loose = await rendered("default");
  assertEquals(chart.ConfigMap.data, map.data);
  const [ours, theirs] = [chart.Deployment, deployment].map((one: Loose) => one.spec.template.spec);
  const [container, expected] = [ours.containers[0], theirs.containers[0]];
  for (const key of ["args", "envFrom", "securityContext", "volumeMounts"]) {
    assertEquals(container[key], expected[key], key);
  }
  assertEquals(container.livenessProbe.httpGet.path, expected.livenessProbe.httpGet.path);
  assertEquals(container.readinessProbe.httpGet.path, expected.readinessProbe.httpGet.path);
  assertEquals(ours.terminationGracePeriodSeconds, theirs.terminationGracePeriodSeconds);
  // Variables of a Service such as otel-collector would look like settings of spans.
  assertEquals([ours.enableServiceLinks, theirs.enableServiceLinks], [false, false]);
  assertEquals(container.image, `switchyard:${manifest.version}`);
  assertEquals(
    Object.keys(chart).toSorted(),
    ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service"],
  );
});

Deno.test("the objects of the chart name each other, and the port of the configuration", async () => {
  for (const [name, port] of [["default", 8080], ["public", 9000]] as const) {
    const chart: Loose = await rendered(name);
    const { ConfigMap, Deployment, Service, PodDisruptionBudget } = chart;
    const { selector, template } = Deployment.spec;
    const [container] = template.spec.containers;
    assertEquals(container.ports, [{ name: "http", containerPort: port }]);
    assertEquals(Service.spec.ports[0].targetPort, container.ports[0].name);
    for (const [key, value] of Object.entries(selector.matchLabels)) {
      assertEquals(template.metadata.labels[key], value);
    }
    assertEquals(Service.spec.selector, selector.matchLabels);
    assertEquals(PodDisruptionBudget.spec.selector, selector);
    assertEquals(template.spec.volumes[0].configMap.name, ConfigMap.metadata.name);
    const keys = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const variables = ["OPENAI_API_KEY", "CLIENT_KEY", "STATE_KEY", "VALKEY_PASSWORD"];
    const loaded = parseConfig(
      ConfigMap.data["config.yaml"],
      Object.fromEntries(variables.map((one) => [one, keys])),
    );
    assert(loaded.ok, JSON.stringify(loaded));
    assertEquals(loaded.config.server.port, port);
  }
});

Deno.test("an Ingress and an autoscaler are made when the values ask for them", async () => {
  const { Ingress, HorizontalPodAutoscaler, Deployment, Service }: Loose = await rendered("public");
  const [rule] = Ingress.spec.rules;
  assertEquals(rule.host, "models.example.com");
  assertEquals(rule.http.paths[0].backend.service.name, Service.metadata.name);
  assertEquals(Ingress.spec.tls, [{ secretName: "models-tls", hosts: [rule.host] }]);
  assertEquals(HorizontalPodAutoscaler.spec.scaleTargetRef.name, Deployment.metadata.name);
  assertEquals(Deployment.spec.replicas, undefined);
  assertEquals(Deployment.spec.template.spec.containers[0].envFrom, undefined);
});

Deno.test("volumes are mounted besides the configuration, writable for the user of the container", async () => {
  const { Deployment }: Loose = await rendered("public");
  const { spec } = Deployment.spec.template;
  assertEquals(spec.volumes.map(({ name }: Loose) => name), ["config", "certificates"]);
  const [container] = spec.containers;
  assertEquals(container.volumeMounts, [
    { name: "config", mountPath: "/etc/switchyard" },
    { name: "certificates", mountPath: "/run/certificates", readOnly: true },
  ]);
  assertEquals(spec.securityContext.fsGroup, container.securityContext.runAsUser);
});

/** Service accounts of the values. */
const ACCOUNTS: readonly JsonObject[] = [{}, { name: "theirs" }, { create: true }];

const renderedAccounts = rendering(ACCOUNTS.map((serviceAccount) => ({ serviceAccount })));

testUnless(
  missingHelm,
  "the pods have the service account that the values make or name",
  async () => {
    const { ServiceAccount, Deployment }: Loose = await rendered("public");
    assertEquals(ServiceAccount.metadata.annotations, {
      "eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/models",
    });
    assertEquals(Deployment.spec.template.spec.serviceAccountName, ServiceAccount.metadata.name);
    const results = (await renderedAccounts()).map(({ manifest }) => {
      const objects: Loose = objectsIn(manifest ?? "");
      const of = (wanted: string) => objects.find(({ kind }: Loose) => kind === wanted);
      return [
        of("Deployment").spec.template.spec.serviceAccountName,
        of("ServiceAccount")?.metadata.name,
      ];
    });
    const own = Deployment.metadata.name;
    assertEquals(results, [[undefined, undefined], ["theirs", undefined], [own, own]]);
  },
);

Deno.test("the chart has the version of the program", async () => {
  const { version, appVersion } = parse(await read("Chart.yaml"));
  assertEquals([version, appVersion], [manifest.version, manifest.version]);
});

Deno.test("every value of the chart is documented in values.yaml and known to its schema", async () => {
  const lines = (await read("values.yaml")).split("\n");
  const documented: string[] = [];
  let section = "";
  for (const [index, line] of lines.entries()) {
    const [, indent, key, value] = /^((?: {2})?)(\w+):(?: (.+))?$/.exec(line) ?? [];
    if (key === undefined || line.startsWith("  ") && section === "config") continue;
    if (indent === "") section = key;
    const isExplained = /^ *# [A-Z].*\.$/.test(lines[index - 1] ?? "");
    // A section without a value is explained by its members.
    assert(isExplained || value === undefined || section === "resources", line);
    documented.push(indent === "" ? key : `${section}.${key}`);
  }
  assertEquals(documented, knownValues(schema).map(([path]) => path));
});

/** Returns the paths of all values that a schema knows, with their own schemas. */
function knownValues(value: Loose, within = ""): readonly (readonly [string, Loose])[] {
  return Object.entries(value.properties ?? {}).filter(([key]) => key !== "global")
    .flatMap(([key, inner]: Loose) => [
      [`${within}${key}`, inner] as const,
      ...knownValues(inner, `${within}${key}.`),
    ]);
}

Deno.test("the schema of the values takes those of the chart and of the examples, and no unknown one", async () => {
  const { $schema: _draft, ...rest } = schema;
  const validate = new Ajv2020({ strict: false, allowUnionTypes: true }).compile(rest);
  const usual: JsonObject = parse(await read("values.yaml"));
  assert(validate(usual), JSON.stringify(validate.errors));
  for (const name of CASE_NAMES) assert(validate(merged(usual, await valuesOf(name))), name);
  assert(!validate({ ...usual, replicas: 3 }));
  assert(!validate(merged(usual, { service: { type: "Headless" } })));
});

/** Returns values with others over them, whose sections have the members that they do not name. */
function merged(values: JsonObject, others: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries({ ...values, ...others }).map(([key, value]) => {
      const usual = values[key];
      return [key, isObject(usual) && isObject(value) ? { ...usual, ...value } : value];
    }),
  );
}
