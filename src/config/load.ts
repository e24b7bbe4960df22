import { adminWarnings } from "./admin_rules.ts";
import { dirname } from "node:path";
import { parseProxyRule } from "../http_client/proxy_rule.ts";
import { isObject } from "../core/json/json.ts";
import { cachingWarnings } from "./caching_rules.ts";
import { checkTree } from "./check.ts";
import { clientKeyWarnings, keyMatchWarnings } from "./client_key_warnings.ts";
import { credentialWarnings } from "./credential_rules.ts";
import type { Variables } from "./expand.ts";
import { fillVariables, readText } from "./files.ts";
import { modelsWarnings } from "./models_rules.ts";
import { outboundWarnings } from "./outbound_rules.ts";
import { readKeySetFiles } from "./jwt_rules.ts";
import type { Problem } from "./problems.ts";
import { pricingWarnings, providerWarnings } from "./provider_rules.ts";
import { recordWarnings } from "./record_rules.ts";
import { earlyHeadWarnings } from "./early_head_warnings.ts";
import { routingWarnings } from "./routing_rules.ts";
import { silenceWarnings } from "./silence_warnings.ts";
import { type Config, configSchema, READ_ONCE } from "./schema.ts";
import { privacyWarnings } from "./privacy_rules.ts";
import { securityWarnings } from "./security_rules.ts";
import { stateWarnings } from "./state_warnings.ts";
import { telemetryWarnings } from "./telemetry_warnings.ts";
import { NOTHING_OUTSIDE, type Outside, readTlsFiles, tlsWarnings } from "./tls_rules.ts";
import { withoutBroken } from "./drop_broken_providers.ts";
import { parseSource, type Source } from "./yaml_source.ts";
import { unusedWarnings } from "./unused_keys.ts";
import { workerWarnings } from "./worker_rules.ts";

/**
 * A configuration, or all problems of its file: one line each, never with a value from the file.
 */
export type Loaded =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Result of a reload: a configuration, maybe without broken providers, or the problems of the file.
 */
export type Reloaded =
  | {
    readonly ok: true;
    readonly config: Config;
    readonly warnings: readonly string[];
    /** Names of the omitted broken providers, as shown in messages. */
    readonly leftOut: readonly string[];
    /** The problems of the omitted providers. */
    readonly problems: readonly string[];
  }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Returns the configuration of a file. Variables come from the environment, then from `.env` next
 * to the file, then from `.env` in the working directory. A file that cannot be read is a problem.
 */
export async function load(path: string, environment: Variables): Promise<Loaded> {
  const read = await readConfig(path, environment);
  if (!read.ok) return read;
  const loaded = configIn(read.source, read.outside);
  return loaded.ok ? { ...loaded, warnings: [...read.warnings, ...loaded.warnings] } : loaded;
}

/** Returns the configuration of a file as `load` does, but omits broken providers. */
export async function reload(path: string, environment: Variables): Promise<Reloaded> {
  const read = await readConfig(path, environment);
  if (!read.ok) return read;
  const loaded = salvagedIn(read.source, read.outside);
  return loaded.ok ? { ...loaded, warnings: [...read.warnings, ...loaded.warnings] } : loaded;
}

/**
 * Returns where the gateway of a file listens. A running gateway keeps its configuration when the
 * file is broken, so problems elsewhere do not count; one that cannot be parsed has the defaults.
 */
export async function listenPlace(path: string, environment: Variables) {
  const read = await readConfig(path, environment);
  if (!read.ok) return read;
  const { value, problems } = read.source;
  const written = isObject(value) ? value.server : undefined;
  const section = isObject(written) ? { host: written.host, port: written.port } : written;
  const server = configSchema.shape.server.safeParse(section, READ_ONCE);
  if (server.success) {
    const { host, port } = server.data;
    return { ok: true, host, port, problems: problemLines(read.source, problems) } as const;
  }
  const loaded = configIn(read.source, read.outside);
  return { ok: false, problems: loaded.ok ? [] : loaded.problems } as const;
}

/** Returns the configuration of a YAML or JSON text with these variables. Reads no files. */
export function parseConfig(text: string, variables: Variables, outside = NOTHING_OUTSIDE): Loaded {
  return configIn(parseSource(text, variables), outside);
}

function configIn(source: Source, outside: Outside): Loaded {
  const checked = checkTree(source.value, source.problems, outside);
  return checked.ok
    ? { ok: true, config: checked.config, warnings: warningLines(source, checked.config, outside) }
    : { ok: false, problems: problemLines(source, checked.problems) };
}

/**
 * Returns the configuration of a text as `parseConfig` does, but omits broken providers and the
 * targets and fallbacks that name them. The text is refused if no provider or a route without
 * target remains.
 */
export function parseReload(text: string, variables: Variables): Reloaded {
  return salvagedIn(parseSource(text, variables), NOTHING_OUTSIDE);
}

function salvagedIn(source: Source, outside: Outside): Reloaded {
  const checked = checkTree(source.value, source.problems, outside);
  if (checked.ok) {
    const warnings = warningLines(source, checked.config, outside);
    return { ok: true, config: checked.config, warnings, leftOut: [], problems: [] };
  }
  const rest = withoutBroken(source.value, checked.problems);
  const repaired = rest === null ? null : checkTree(rest.value, [], outside, rest.leftOut);
  if (rest === null || repaired === null) {
    return { ok: false, problems: problemLines(source, checked.problems) };
  }
  if (!repaired.ok) {
    const left = repaired.problems.map((problem) => {
      return { ...problem, text: `${problem.text} once the broken providers are left out` };
    });
    return { ok: false, problems: problemLines(source, [...checked.problems, ...left]) };
  }
  return {
    ok: true,
    config: repaired.config,
    // Warnings about routes are omitted: their list indices are wrong after targets were removed.
    warnings: source.lines([
      ...source.warnings,
      ...settingWarnings(rest.value, repaired.config, outside),
    ]),
    leftOut: rest.leftOut.map(source.names.providerText),
    problems: problemLines(source, checked.problems),
  };
}

async function readConfig(path: string, environment: Variables) {
  const file = await readText(path);
  if (!file.ok) {
    const problem = `The configuration file ${path} ${file.trouble}.`;
    return { ok: false, problems: [problem] } as const;
  }
  const filled = await fillVariables(environment, [dirname(path), "."]);
  const source = parseSource(file.text, filled.variables);
  const directory = dirname(path);
  const files = new Map([
    ...await readTlsFiles(source.value, directory),
    ...await readKeySetFiles(source.value, directory),
  ]);
  const proxy = parseProxyRule((name) => environment[name]);
  const outside = { files, proxy, directory, wallMs: Date.now() };
  return { ok: true, source, outside, warnings: filled.warnings } as const;
}

/**
 * Returns the problems as lines, with the warnings of unset variables at the same paths: often the
 * cause.
 */
function problemLines(source: Source, problems: readonly Problem[]): string[] {
  const places = new Set(problems.map(({ path }) => JSON.stringify(path)));
  const reasons = source.warnings.filter(({ path }) => places.has(JSON.stringify(path)));
  return source.lines([...problems, ...reasons]);
}

function warningLines(source: Source, config: Config, outside: Outside): string[] {
  return source.lines([
    ...source.warnings,
    ...settingWarnings(source.value, config, outside),
    ...routingWarnings(config),
    ...modelsWarnings(config),
    ...silenceWarnings(config),
    ...earlyHeadWarnings(config),
    ...keyMatchWarnings(config),
    ...recordWarnings(config),
    ...cachingWarnings(config),
    ...pricingWarnings(config),
  ]);
}

/** Returns the warnings about settings that do not depend on the list of routes. */
function settingWarnings(written: unknown, config: Config, { wallMs }: Outside): Problem[] {
  return [
    ...unusedWarnings(isObject(written) ? written.providers : null),
    ...providerWarnings(config),
    ...tlsWarnings(config),
    ...credentialWarnings(written, config),
    ...securityWarnings(config),
    ...privacyWarnings(config),
    ...clientKeyWarnings(config, wallMs),
    ...adminWarnings(config),
    ...outboundWarnings(config),
    ...stateWarnings(written, config),
    ...workerWarnings(config),
    ...telemetryWarnings(config),
  ];
}
