import { parseAllDocuments } from "yaml";
import { TARGETS } from "../../scripts/packaging/compile.ts";
import { optionValue, parseArguments } from "../../src/cli/arguments.ts";
import { health } from "../../src/cli/health.ts";
import { serve } from "../../src/cli/serve.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { isObject, parseJson } from "../../src/core/json/json.ts";
import { configOf, withSection } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { blocksIn, isManifest, pageText, quoted } from "./pages.ts";

/** The value at these keys and indexes; undefined if there is none. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return inner[Number(key)];
    return isObject(inner) ? inner[key] : undefined;
  }, value);
}

function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const text = at(value, ...path);
  assert(typeof text === "string", `no text at ${path.join(".")}`);
  return text;
}

function wordsAt(value: unknown, ...path: readonly (string | number)[]): readonly string[] {
  const list = at(value, ...path);
  assert(Array.isArray(list), `no list at ${path.join(".")}`);
  return list.map(String);
}

const manifests = blocksIn("yaml").filter(isManifest)
  .flatMap(({ text }) => parseAllDocuments(text))
  .map((document): unknown => document.toJS());

function manifest(kind: string): unknown {
  return manifests.find((one) => at(one, "kind") === kind);
}

const configMap = manifest("ConfigMap");
const pod = at(manifest("Deployment"), "spec", "template", "spec");
const container = at(pod, "containers", 0);
const file = textAt(configMap, "data", "config.yaml");

/** The variables of the documented deployments. */
const KEYS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "k",
  CLIENT_KEY: "c",
  STATE_KEY: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  VALKEY_PASSWORD: "p",
};

function clusterConfig(): Config {
  const loaded = parseConfig(file, KEYS);
  assert(loaded.ok, JSON.stringify(loaded));
  assertEquals(loaded.warnings, []);
  return loaded.config;
}

/** The configuration file that these arguments of the program name; fails when they are wrong. */
function configNamed(args: readonly string[]): string {
  const parsed = parseArguments(args, serve.options);
  assert(parsed.ok, parsed.ok ? "" : parsed.trouble);
  return optionValue(parsed.values, "config") ?? "";
}

/** Milliseconds that a supervisor must wait for the end, as documented. */
function patience({ drain_delay, drain_timeout }: Config["server"]): number {
  return drain_delay + drain_timeout + 10_000;
}

Deno.test("the probes and ports of the Deployment are those of the gateway", async () => {
  const { server } = clusterConfig();
  const { app } = testGateway(
    file.replaceAll(/\$\{(\w+)\}/g, (_all, name: string) => KEYS[name] ?? name),
    scriptedWorld(),
  );
  const probes = { livenessProbe: "/health", readinessProbe: "/ready" };
  for (const [probe, expected] of Object.entries(probes)) {
    const path = textAt(container, probe, "httpGet", "path");
    assertEquals(path, expected);
    assertEquals(at(container, probe, "httpGet", "port"), server.port);
    // A kubelet calls by the address of the pod.
    const { status } = await app(new Request(`http://10.1.2.3:8080${path}`));
    assertEquals(status, 200);
  }
  assertEquals((await app(new Request("http://10.1.2.3:8080/v1/models"))).status, 401);
  assertEquals(server.host, "0.0.0.0");
  assertEquals(at(container, "ports", 0, "containerPort"), server.port);
  assertEquals(at(manifest("Service"), "spec", "ports", 0, "targetPort"), server.port);
});

Deno.test("the Deployment serves the file of the ConfigMap, by folder so that changes arrive", () => {
  const mount = at(container, "volumeMounts", 0);
  const path = configNamed(wordsAt(container, "args"));
  assertEquals(path, `${textAt(mount, "mountPath")}/config.yaml`);
  assertEquals(at(mount, "subPath"), undefined);
  assertEquals(at(mount, "name"), at(pod, "volumes", 0, "name"));
  assertEquals(at(pod, "volumes", 0, "configMap", "name"), at(configMap, "metadata", "name"));
});

Deno.test("a pod has time to drain, and a user without rights", () => {
  const grace = Number(at(pod, "terminationGracePeriodSeconds")) * 1000;
  assert(grace >= patience(clusterConfig().server), `${grace} ms`);
  const { runAsUser, ...rights } = Object(at(container, "securityContext"));
  assert(runAsUser > 0);
  assertEquals(rights, {
    runAsNonRoot: true,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
  });
});

Deno.test("the parts of the Kubernetes manifest name each other", () => {
  assertEquals(manifests.map((one) => at(one, "kind")), ["ConfigMap", "Deployment", "Service"]);
  const labels = at(manifest("Deployment"), "spec", "template", "metadata", "labels");
  assertEquals(at(manifest("Deployment"), "spec", "selector", "matchLabels"), labels);
  assertEquals(at(manifest("Service"), "spec", "selector"), labels);
});

Deno.test("the image starts the program with arguments that it knows, where it listens", async () => {
  const dockerfile = new URL("../../scripts/deploy/docker/Dockerfile", import.meta.url);
  const text = await Deno.readTextFile(dockerfile);
  assertEquals(blocksIn("dockerfile").map((block) => block.text), [text]);
  const lines = text.trim().split("\n").map((line) => line.split(/ (.*)/, 2));
  const names = lines.map(([name]) => name);
  assertEquals(names, ["FROM", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD"]);
  const [base = "", copy = "", user = "", port = "", check = "", entry = "", args = ""] = lines
    .map(([, rest = ""]) => rest);
  const [mode, source, target] = copy.split(" ");
  // An archive may have been unpacked without its modes.
  assertEquals(mode, "--chmod=0755");
  // The executable needs glibc.
  assert(base.startsWith("debian:"));
  assertEquals([source, parseJson(entry)], ["switchyard", [target]]);
  assertEquals(Number(port), configOf(withSection()).server.port);
  assert(/^[1-9]\d*:[1-9]\d*$/.test(user));
  const words = parseJson(args);
  const path = configNamed(Array.isArray(words) ? words.map(String) : []);
  assertEquals(path, configNamed(wordsAt(container, "args")));
  const checked = parseJson(check.replace(/^.* CMD /, ""));
  assertEquals<unknown>(checked, [target, health.name, "--config", path]);
  // The executable gives up by itself before the health check is ended.
  assert(Number(/--timeout=(\d+)s/.exec(check)?.[1]) > 3);
});

Deno.test("the documented unit is part of the one that the package brings", async () => {
  const unit = new URL("../../scripts/packaging/deb/switchyard.service", import.meta.url);
  const lines = (await Deno.readTextFile(unit)).split("\n");
  const [shown, ...others] = blocksIn("ini");
  assertEquals(others, []);
  const wanted = shown?.text.trim().split("\n") ?? [];
  assert(wanted.length > 5);
  assertEquals(wanted.filter((line) => !lines.includes(line)), []);
  const values = new Map(wanted.map((line) => {
    const [key = "", value = ""] = line.split(/=(.*)/s, 2);
    return [key, value] as const;
  }));
  const [, ...args] = values.get("ExecStart")?.split(" ") ?? [];
  assertEquals(configNamed(args), "/etc/switchyard/config.yaml");
  const seconds = Number(values.get("TimeoutStopSec"));
  assert(seconds * 1000 >= patience(configOf(withSection()).server));
});

Deno.test("the formula has the archive of each machine with Linux or macOS, with its checksum", async () => {
  const formula = new URL("../../scripts/packaging/homebrew/switchyard.rb", import.meta.url);
  const release = await Deno.readTextFile(new URL("../../scripts/release", import.meta.url));
  const archives = (await Deno.readTextFile(formula))
    .matchAll(/-([a-z]+-\w+)\.tar\.gz"\n +sha256 "@([\w-]+)@"/g)
    .map(([, archive, checksum]) => [archive ?? "", checksum]);
  const machines = Object.keys(TARGETS).filter((name) => !name.startsWith("win32"));
  assertEquals([...archives].toSorted(), machines.map((name) => [name, name]).toSorted());
  // What the release fills in is the checksum of the archive with this name.
  const [, filled = ""] = /\n {2}for machine in ([\w -]+); do\n {4}sum=\$\(awk/.exec(release) ?? [];
  assertEquals(filled.split(" ").toSorted(), machines.toSorted());
});

Deno.test("the page of the executable names every function of the C library that the gateway calls", async () => {
  const [, paragraph = ""] = /\n(The right to call libraries is wider [^]*?)\n\n/
    .exec(pageText("docs/deploy/executable.md")) ?? [];
  const files = ["sockets.ts", "free_memory.ts"].map((name) =>
    Deno.readTextFile(new URL(`../../src/runtime/${name}`, import.meta.url))
  );
  const called = (await Promise.all(files)).flatMap((code) =>
    [...code.matchAll(/\b(\w+): \{ parameters/g)].map(([, name = ""]) => name)
  );
  assert(called.length > 5);
  const named = quoted(paragraph.replaceAll("\n", " ")).filter((word) => /^\w+$/.test(word));
  assertEquals(named.toSorted(), called.toSorted());
});
