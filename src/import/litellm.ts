import { MAX_NAMED_MODELS } from "../config/models_rules.ts";
import { MODEL_NAME } from "../config/models_schema.ts";
import { reportAbsent } from "./absent.ts";
import { newDraft } from "./draft.ts";
import type { ImportResult } from "./imported.ts";
import { readEntry } from "./litellm_entry.ts";
import { FALLBACK_KEYS, newChains } from "./litellm_fallbacks.ts";
import { writeLitellmFile } from "./litellm_file.ts";
import { readGeneral } from "./litellm_general.ts";
import { newModels } from "./litellm_models.ts";
import { readRetries, readRouter, strategyIn } from "./litellm_router.ts";
import { OTHER_SECTIONS, readSettings } from "./litellm_settings.ts";
import { readUsualTimeouts } from "./litellm_timeouts.ts";
import { newProviders, type Providers, type Settings } from "./providers.ts";
import { newReport, type Report } from "./report.ts";
import {
  itemsOf,
  leavesOf,
  memberOf,
  membersOf,
  type Parsed,
  parseSourceText,
  textOf,
  type Tree,
  truthOf,
} from "./source.ts";
import { newVariables } from "./variables.ts";

/** Maximum number of entries of `model_list`. */
const MAX_ENTRIES = 5_000;

/** Maximum number of aliases: they are named models too. */
const MAX_ALIASES = MAX_NAMED_MODELS / 2;

/** Imports a file of LiteLLM's proxy. */
export function importLitellm(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): ImportResult {
  const parsed = parseSourceText(text, "yaml");
  if (!parsed.ok) return parsed;
  const list = memberOf(parsed.root, "model_list");
  if (list === undefined) {
    const problem = memberOf(parsed.root, "include") === undefined
      ? "this is no configuration of LiteLLM: it has no model_list"
      : "it has no model_list, and other files are not read: import each file of include";
    return { ok: false, problem };
  }
  if (itemsOf(list).length > MAX_ENTRIES) {
    return { ok: false, problem: `model_list has more than ${MAX_ENTRIES} entries` };
  }
  const first = read(parsed, environment, []);
  return first.collisions.length === 0 ? first : read(parsed, environment, first.collisions);
}

/** Reads a source; `taken` are names of variables that no literal gets. */
function read(
  parsed: Extract<Parsed, { readonly ok: true }>,
  environment: Readonly<Record<string, string | undefined>>,
  taken: readonly string[],
): ImportResult & { readonly ok: true; readonly collisions: readonly string[] } {
  const { root } = parsed;
  const report = newReport(root, parsed.replaced);
  const variables = newVariables(root, taken);
  const draft = newDraft(report, variables);
  const [router, settings] = [
    memberOf(root, "router_settings"),
    memberOf(root, "litellm_settings"),
  ];
  const reader = {
    report,
    variables,
    environment,
    credentials: credentialsIn(root, report),
    usual: readUsualTimeouts(router, settings, report),
  };
  const entries = itemsOf(memberOf(root, "model_list")).flatMap((item) =>
    readEntry(item, reader) ?? []
  );
  const names = entries.map(({ name }) => name);
  const aliases = aliasesIn(router, new Set(names), report);
  const prefixed = [...names, ...aliases.keys()].filter((name) => name.includes("/"));
  const providers = newProviders(new Set(prefixed.map((name) => name.slice(0, name.indexOf("/")))));
  const models = newModels(entries, {
    providers,
    report,
    maxNames: MAX_NAMED_MODELS - aliases.size,
    // Other strategies of LiteLLM do not look at weights.
    isWeighted: (strategyIn(router) ?? "weighted") === "weighted",
  });
  // LiteLLM looks for fallbacks of an alias by the alias itself, never by the name behind it.
  const named = new Map(models.named);
  for (const [alias, name] of aliases) {
    const one = models.named.get(name);
    if (one !== undefined) named.set(alias, { ...one, name: alias });
  }
  const lists = FALLBACK_KEYS.flatMap((key) => {
    const [used, ...others] = [router, settings, root].map((section) => memberOf(section, key))
      .filter((tree) => tree !== undefined && leavesOf(tree).some(({ value }) => value !== null));
    for (const tree of others) report.noMeaning(tree, `that of ${sectionOf(used)} counts`);
    return used === undefined ? [] : [[key, used] as const];
  });
  const chains = newChains(lists, named, models.others, report);
  readRetries(router, settings, draft);
  readRouter(router, settings, draft);
  readSettings(settings, refusingText(providers), draft);
  readGeneral(memberOf(root, "general_settings"), settings, draft);
  reportAbsent(root, report, OTHER_SECTIONS);
  const sections = ["model_list", "router_settings", "litellm_settings", "general_settings"];
  report.notRead(root, sections.filter((key) => memberOf(root, key)?.kind === "leaf"));
  for (const section of [router, settings, root]) report.notRead(section, FALLBACK_KEYS);
  report.notRead(root, ["credential_list"]);
  for (const key of parsed.anchored) {
    report.noMeaning(memberOf(root, key), "anchors, whose values are those of their aliases");
  }
  const file = models.named.size === 0
    ? null
    : writeLitellmFile({ models, named, chains, providers, draft });
  return {
    ok: true,
    collisions: variables.collisions(),
    imported: {
      file,
      lines: report.lines(),
      variables: variables.names(),
      standIns: variables.standIns(),
    },
  };
}

/** Returns the first part of the path of a value. */
function sectionOf(tree: Tree | undefined): string {
  return tree?.path.split(".")[0] ?? "";
}

/** Returns which providers refuse fields of the OpenAI API; empty if none does. */
function refusingText(providers: Providers): string {
  const ids = providers.parts().flatMap(({ key, value }) =>
    (value as Settings).type === "compat" ? [] : [key]
  );
  return ids.length === 0 ? "" : `; ${ids.join(", ")} cannot take every field`;
}

function credentialsIn(root: Tree, report: Report): ReadonlyMap<string, Tree> {
  const found = new Map<string, Tree>();
  const used = new Set(
    itemsOf(memberOf(root, "model_list")).map((item) =>
      textOf(memberOf(memberOf(item, "litellm_params"), "litellm_credential_name"))
    ),
  );
  for (const item of itemsOf(memberOf(root, "credential_list"))) {
    const name = textOf(memberOf(item, "credential_name"));
    const values = memberOf(item, "credential_values");
    if (name === null || values === undefined) continue;
    if (!used.has(name)) {
      report.missing(item, "no entry names this credential");
      continue;
    }
    found.set(name, values);
    report.carried(memberOf(item, "credential_name"), "providers");
    report.noMeaning(
      memberOf(item, "credential_info"),
      "describes the credential to users of LiteLLM",
    );
  }
  return found;
}

/** Returns the aliases of `model_group_alias` with the names for which they are. */
function aliasesIn(
  router: Tree | undefined,
  names: ReadonlySet<string>,
  report: Report,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [alias, tree] of membersOf(memberOf(router, "model_group_alias"))) {
    const name = textOf(tree) ?? textOf(memberOf(tree, "model"));
    const isGood = found.size < MAX_ALIASES && name !== null && names.has(name) &&
      !name.includes("*") &&
      MODEL_NAME.test(alias) && !alias.includes("*");
    if (!isGood || names.has(alias)) {
      report.missing(
        tree,
        names.has(alias) ? "a model has this name" : "no entry that is carried has this name",
      );
      continue;
    }
    found.set(alias, name);
    const hidden = memberOf(tree, "hidden");
    if (truthOf(hidden) === true) {
      report.differently(hidden, `models.${alias}`, "the alias is listed");
    }
    report.carried(tree, `models.${alias}`);
  }
  return found;
}
