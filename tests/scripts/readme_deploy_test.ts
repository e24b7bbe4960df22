import { parseAllDocuments } from "@std/yaml";
import { parseArguments, valueOf } from "../../src/cli/arguments.ts";
import { serve } from "../../src/cli/serve.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { isObject, type JsonValue, parseJson } from "../../src/core/json.ts";
import { LAST_BYTES } from "../../src/cli/drain.ts";
import { configOf, withSection } from "../config/parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { blocksIn, isManifest, variable } from "./readme_text.ts";

/** What stands under these keys and indices; undefined when there is nothing. */
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

function clusterConfig(): Config {
  const loaded = parseConfig(file, { OPENAI_API_KEY: "k", CLIENT_KEY: "c" });
  assert(loaded.ok, JSON.stringify(loaded));
  assertEquals(loaded.warnings, []);
  return loaded.config;
}
