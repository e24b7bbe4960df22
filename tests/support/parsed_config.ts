import type { Generation } from "../../src/call/generation.ts";
import type { Config } from "../../src/config/schema.ts";
import { compile } from "../../src/gateway/compile.ts";
import { configOf } from "../config/parse.ts";

/** Configurations by their texts. */
const parsed = new Map<string, Config>();

/** Configurations by their texts with the places of the ports of servers instead of these. */
const portless = new Map<string, Config>();

/** Port of a server on loopback, which each test has for itself. */
const PORT = /(?<=127\.0\.0\.1:)\d+/g;

/**
 * Returns the configuration of a text; throws if it has problems. A text is parsed once in a test
 * file, because many tests have the same one but for the ports of their servers. No gateway can
 * change the configuration for the next, because it is frozen.
 */
export function parsedConfig(text: string): Config {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const ports = [...new Set(text.match(PORT))];
  const config = ports.length === 0 ? configOf(text) : configWith(ports, text);
  parsed.set(text, config);
  return config;
}

/** Generations by their configurations. */
const compiled = new WeakMap<Config, Generation>();

/**
 * Returns the first generation of a gateway with the configuration of a text. One that holds
 * nothing of a gateway is compiled once in a test file. Tokens of credentials and keys of issuers
 * are its own, and so are the rules of privacy, in which a test may break a function.
 */
export function firstGeneration(text: string): Generation {
  const config = parsedConfig(text);
  const known = compiled.get(config);
  if (known !== undefined) return withOwnRules(known);
  const generation = compile(config, 1);
  const { credentials, tokens } = generation;
  if (credentials.size === 0 && tokens === null) compiled.set(config, generation);
  return withOwnRules(generation);
}

function withOwnRules(generation: Generation): Generation {
  const { privacy } = generation;
  return privacy === null ? generation : { ...generation, privacy: { ...privacy } };
}

function configWith(ports: readonly string[], text: string): Config {
  const key = text.replace(PORT, (port) => String(ports.indexOf(port) + 1));
  const known = portless.get(key) ?? configOf(key);
  portless.set(key, known);
  return withPorts(known, ports);
}

/** Returns a frozen copy of a value in which the places of ports are the ports. */
function withPorts<T>(value: T, ports: readonly string[]): T;
function withPorts(value: unknown, ports: readonly string[]): unknown {
  if (typeof value === "string") {
    return value.replace(PORT, (place) => ports[Number(place) - 1] ?? place);
  }
  if (Array.isArray(value)) return Object.freeze(value.map((item) => withPorts(item, ports)));
  if (typeof value !== "object" || value === null) return value;
  const prototype = Object.getPrototypeOf(value);
  // What is no plain object has no port.
  if (prototype !== Object.prototype && prototype !== null) return value;
  const members = Object.entries(value).map((member) => withPorts(member, ports));
  return Object.freeze(Object.fromEntries(members));
}
