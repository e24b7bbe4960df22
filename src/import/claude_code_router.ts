import { OPEN_MODEL } from "../config/models_rules.ts";
import { PROVIDER_ID } from "../config/provider_schema.ts";
import { HOSTS } from "../data/hosts.ts";
import { ANTHROPIC_MODELS } from "../data/known_models.ts";
import { type Absent, reportAbsent } from "./absent.ts";
import { hostWord, readAddress } from "./address.ts";
import { readServer } from "./ccr_server.ts";
import { maxTokens, reportTransformer, RESPONSES, transformerName } from "./ccr_transformers.ts";
import { type Draft, newDraft } from "./draft.ts";
import type { ImportResult } from "./imported.ts";
import { keyVariable, readKey } from "./keys.ts";
import { hostSettings, newProviders, type Settings } from "./providers.ts";
import { newReport } from "./report.ts";
import {
  itemsOf,
  memberOf,
  membersOf,
  parseSourceText,
  textOf,
  type Tree,
  truthOf,
} from "./source.ts";
import { newVariables } from "./variables.ts";
import { type Part, type Section, writeFile } from "./written_file.ts";

const HEAD = [
  "Written by switchyard import claude-code-router. ${NAME} is an environment variable; a file .env",
  "beside this one sets them too. The comments name the places of the source.",
];

/** Endings of addresses of endpoints. */
const CHAT_ENDINGS = /\/(?:chat\/completions|responses)$/;
const MESSAGES_ENDINGS = /\/v1\/messages$/;
const MESSAGES_ROOTS = /\/v1(?:\/messages)?$/;
const GEMINI =
  /^https:\/\/generativelanguage\.googleapis\.com(?:\/v1(?:alpha|beta)?(?:\/models)?)?\/?$/;

/** The `kind` of a file that version 3 exports: its `config` has the rest. */
const EXPORT = "claude-code-router-data-export";

/** Names by which the parts of a file repeat the values of `*` and `*haiku*`. */
const MAIN = "default", SMALL = "background";

/** A target in the written file. */
type Target = {
  readonly provider: string;
  readonly model?: string;
  readonly upstream_request_type?: "responses";
};

/** Imports `config.json` of claude-code-router. */
export function importClaudeCodeRouter(text: string): ImportResult {
  if (text.startsWith("SQLite format 3\0")) {
    return {
      ok: false,
      problem:
        "this is the database of version 3: export a backup in its user interface, and import that file",
    };
  }
  const parsed = parseSourceText(text, "json");
  if (!parsed.ok) return parsed;
  const isExport = textOf(memberOf(parsed.root, "kind")) === EXPORT;
  const root = isExport ? memberOf(parsed.root, "config") ?? parsed.root : parsed.root;
  if (memberOf(root, "Providers") === undefined && memberOf(root, "providers") === undefined) {
    return {
      ok: false,
      problem: "this is no configuration of claude-code-router: it has no Providers",
    };
  }
  const report = newReport(parsed.root, parsed.replaced);
  const draft = newDraft(report, newVariables(root));
  const { variables } = draft;
  const providers = newProviders(new Set());
  const timeout = readServer(root, draft);
  /** IDs of providers in the written file by their names in the source. */
  const known = new Map<string, string>();
  /** IDs of those whose requests go to the Responses API. */
  const overResponses = new Set<string>();
  const trees = itemsOf(memberOf(root, "Providers") ?? memberOf(root, "providers"));
  /** The providers by name: a later one of the same name replaces an earlier one. */
  const named = new Map(
    trees.filter((tree) => textOf(addressOf(tree)) !== null)
      .map((tree) => [textOf(memberOf(tree, "name")), tree]),
  );
  for (const tree of trees) readProvider(tree);
  const router = memberOf(root, "Router");
  // An empty route is none, as in the router.
  for (const [key, tree] of [...membersOf(router), ...membersOf(root)]) {
    if (MAY_BE_EMPTY.includes(key) && tree.kind === "leaf" && tree.value === "") {
      report.noMeaning(tree, "empty");
    }
  }
  const stated = targetsOf(memberOf(router, "default"), "models.*", "");
  const main = stated.length > 0 || !isExport ? stated : preferredTargets();
  const small = targetsOf(
    memberOf(router, "background"),
    "models.*haiku*",
    "by the name that the agent requests: models with haiku in it",
  );
  reportAbsent(router, report, ROUTES_MISSING);
  reportOthers(root, draft);
  if (isExport) reportExport(parsed.root, root, draft);
  const file = main.length === 0 ? null : writeFile([...HEAD, ...draft.remarks()], [
    ...draft.sections(["server"]),
    { key: "providers", from: [], parts: providers.parts() },
    modelsPart(),
    routes(),
    ...draft.sections(["security", "logging"]),
  ]);
  return {
    ok: true,
    imported: {
      file,
      lines: report.lines(),
      variables: variables.names(),
      standIns: variables.standIns(),
    },
  };

  function readProvider(tree: Tree): void {
    const name = textOf(memberOf(tree, "name"));
    const address = addressOf(tree);
    // The router reads variables inside a text too, without braces in capital letters.
    const written = textOf(address)?.replace(/\$([A-Z_][A-Z0-9_]*)/g, "${$1}") ?? null;
    const use = memberOf(memberOf(tree, "transformer"), "use");
    if (name === null || written === null) {
      report.missing(name === null ? tree : address, "a provider has a name and an address");
      report.missing(tree, "its provider is not carried");
      return;
    }
    if (truthOf(memberOf(tree, "enabled")) === false) {
      report.noMeaning(tree, "switched off");
      return;
    }
    if (named.get(name) !== tree) {
      report.missing(tree, "a later provider has the same name, and replaces it");
      return;
    }
    const transformers = itemsOf(use).map(transformerName);
    const isGemini = GEMINI.test(written);
    const protocol = memberOf(tree, "type");
    const isMessages = MESSAGES_ENDINGS.test(written.split("?", 1)[0] ?? "") ||
      /^anthropic/.test(textOf(protocol) ?? "") ||
      transformers.includes("Anthropic") && !CHAT_ENDINGS.test(written);
    const read = isGemini
      ? {
        ok: true,
        url: HOSTS.gemini.baseUrl,
        host: "generativelanguage.googleapis.com",
        note: "",
      } as const
      : readAddress(written, isMessages ? MESSAGES_ROOTS : CHAT_ENDINGS, variables);
    if (!read.ok) {
      report.missing(address, read.note);
      report.missing(tree, "its provider is not carried");
      return;
    }
    const models = itemsOf(memberOf(tree, "models")).flatMap((model) => textOf(model) ?? []);
    const word = read.host === null ? null : hostWord(read.host);
    const other = word ?? "provider";
    // Requests for `other/model` are for the provider with this name.
    const id = PROVIDER_ID.test(name) ? name : named.has(other) ? `${other}-api` : other;
    const type = isMessages ? "messages" : "compat";
    const secret = textOf(memberOf(tree, "api_key") ?? memberOf(tree, "apiKey"));
    const key = secret === null
      ? { text: null, note: "" }
      : readKey(secret, read.host, keyVariable(id, read.host), variables);
    const isDeepseek = type === "compat" && transformers.includes("deepseek");
    // For the Messages API it would be a default, and no limit.
    const most = isMessages ? null : maxTokens(use);
    const settings: Settings = {
      type,
      base_url: read.url,
      ...hostSettings(type, read.url, isDeepseek ? "deepseek" : null),
      ...key.text !== null && { api_key: key.text },
      ...timeout !== null && { timeout, timeout_mode: "total" },
      ...most !== null && { extra: { max_tokens: most } },
      ...models.length > 0 && {
        models: { mode: "static", static: models.map((model) => variables.text(model)) },
      },
    };
    const added = providers.add(id, settings, tree.path);
    const place = `providers.${added}`;
    known.set(name, added);
    const isResponses = transformers.includes(RESPONSES) ||
      /^openai(?:_responses)?$/.test(textOf(protocol) ?? "");
    if (type === "compat" && isResponses) overResponses.add(added);
    report.carried(protocol, place);
    report.noted(memberOf(tree, "name"), place, added === name ? "" : "under another ID");
    const notes = [isGemini ? "over Google's endpoint for OpenAI clients" : "", read.note]
      .filter(Boolean).join("; ");
    report.noted(address, `${place}.base_url`, notes);
    for (const one of ["api_key", "apiKey"]) {
      const to = key.text === null ? [] : `${place}.api_key`;
      if (textOf(memberOf(tree, one)) !== null) report.noted(memberOf(tree, one), to, key.note);
    }
    report.notRead(tree, ["api_key", "apiKey"]);
    for (const item of itemsOf(memberOf(tree, "models"))) {
      if (textOf(item) === null) report.missing(item, "no name of a model");
      else report.carried(item, `${place}.models.static`);
    }
    for (const item of itemsOf(use)) reportTransformer(item, place, type, report);
    report.missing(memberOf(tree, "transformer"), "a transformer of one model");
  }

  /**
   * Returns the targets of a value of `Router`, `provider,model` or a list of them; `note` says
   * how they work differently.
   */
  function targetsOf(tree: Tree | undefined, place: string, note: string): readonly Target[] {
    const found: Target[] = [];
    for (const item of itemsOf(tree)) {
      const text = textOf(item) ?? "";
      const comma = text.indexOf(",");
      const provider = known.get(text.slice(0, Math.max(comma, 0)).trim());
      const model = text.slice(comma + 1).trim();
      if (provider === undefined || model === "") {
        report.missing(item, "is no provider,model of a provider that is carried");
        continue;
      }
      report.noted(item, `${place}.${found.length === 0 ? "targets" : "fallback"}`, note);
      found.push({ ...targetAt(provider), model: variables.text(model) });
    }
    return found;
  }

  /** Returns the first model of the preferred provider: version 3 has no other usual one. */
  function preferredTargets(): readonly Target[] {
    const wanted = memberOf(root, "preferredProvider");
    const all = [...named].filter(([name]) => known.has(name ?? ""));
    const [name, tree] = all.find(([name]) => name === textOf(wanted)) ?? all[0] ?? [];
    const model = itemsOf(memberOf(tree, "models")).map(textOf).find((one) => one !== null);
    const provider = known.get(name ?? "");
    if (provider === undefined || model === undefined || model === null) return [];
    report.differently(wanted, "models.*.targets", "its first model, for every model requested");
    return [{ ...targetAt(provider), model: variables.text(model) }];
  }

  function targetAt(provider: string): Target {
    return { provider, ...overResponses.has(provider) && { upstream_request_type: "responses" } };
  }

  function modelsPart(): Section {
    const from = (key: string) => [`${router?.path ?? ""}.${key}`];
    return {
      key: "models",
      from: [],
      parts: [
        ...small.length === 0
          ? []
          : [{ key: "*haiku*", from: from("background"), value: body(small), anchor: SMALL }],
        { key: "*", from: from("default"), value: body(main), anchor: MAIN },
        ...[OPEN_MODEL, ...ANTHROPIC_MODELS].map((key, at) => ({
          key,
          from: at === 0 ? ["Names for lists of models, which show no pattern."] : [],
          alias: small.length > 0 && key.includes("haiku") ? SMALL : MAIN,
        })),
      ],
    };
  }

  function routes(): Part {
    const ids = [...known.values()];
    return {
      key: "routing",
      from: ["Models as provider/model, and requests that name no model."],
      value: {
        routes: [
          {
            name: "by-provider",
            match: { models: ids.map((id) => `${id}/*`) },
            ...AGENT,
            targets: ids.map(targetAt),
          },
          { name: "main", ...body(main) },
        ],
      },
    };
  }
}

function addressOf(provider: Tree): Tree | undefined {
  const all = ["api_base_url", "baseUrl", "baseurl"].map((key) => memberOf(provider, key));
  return all.find((tree) => textOf(tree) !== null) ?? all[0];
}

/** Agents send a web search that the provider would run, and need signs of life while it thinks. */
const AGENT = { omit_tools: ["web_search"], early_head: "20s" } as const;

function body([first, ...others]: readonly Target[]): Settings {
  return {
    ...AGENT,
    targets: first === undefined ? [] : [first],
    ...others.length > 0 && { fallback: others },
  };
}

const ROUTES_MISSING: Absent = {
  think: "requests are not routed by whether they think",
  longContext:
    "requests are not routed by their length; context_size of targets with fallback_on is nearest",
  longContextThreshold: "requests are not routed by their length",
  webSearch: "requests are not routed by their tools",
  image: "requests are not routed by their images",
  custom: "JavaScript is not run",
  rules: "requests are not routed by rules; routes match labels and models",
  builtInRules: "requests are not routed by their agent",
  fallback: "fallbacks are those of a named model: fallback",
};

/** Members of a file, and of its `Router`, that are without effect if they are empty. */
const MAY_BE_EMPTY = [
  ...["default", "background", ...Object.keys(ROUTES_MISSING)],
  ...["CUSTOM_ROUTER_PATH", "HOST", "LOG_LEVEL", "PROXY_URL"],
];

/** Members of an export that configure the app of version 3 and how it starts agents. */
const APP =
  /^(?:autoStart|bot[A-Z]\w*|gateway|observability|overview\w*|profile|proxy|routerEndpoint|theme|tray\w*)$/;

/** Reports what an export of version 3 has besides the configuration of the router. */
function reportExport(top: Tree, config: Tree, { report }: Draft): void {
  for (const [key, tree] of membersOf(top)) {
    if (tree !== config) report.noMeaning(tree, key === "files" ? "its databases" : "the export");
  }
  for (const [key, tree] of membersOf(config)) {
    if (APP.test(key)) report.noMeaning(tree, "the app of version 3");
  }
  reportAbsent(config, report, {
    APIKEYS: "the first one is APIKEY: write client keys for others",
    agent: "no servers of tools",
    toolHub: "no servers of tools",
  });
}

function reportOthers(root: Tree, { report, remark }: Draft): void {
  const get = (key: string) => memberOf(root, key);
  if (textOf(get("PROXY_URL")) !== null) {
    remark("PROXY_URL: set HTTPS_PROXY to it for the gateway; a file has no setting for it.");
  }
  report.differently(get("PROXY_URL"), [], "set HTTPS_PROXY to it for the gateway");
  report.missing(get("CUSTOM_ROUTER_PATH"), "JavaScript is not run");
  report.missing(get("transformers"), "JavaScript is not run");
  report.missing(get("APIKEY"), "no text that a header can carry");
  for (const key of ["StatusLine", "NON_INTERACTIVE_MODE", "CLAUDE_PATH", "Presets", "preset"]) {
    report.noMeaning(get(key), "how the router starts Claude Code");
  }
}
