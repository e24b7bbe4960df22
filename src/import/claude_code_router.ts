import { PROVIDER_ID } from "../config/provider_schema.ts";
import { HOSTS } from "../data/hosts.ts";
import { type Absent, reportAbsent } from "./absent.ts";
import { hostWord, readAddress } from "./address.ts";
import { readServer } from "./ccr_server.ts";
import { maxTokens, reportTransformer, RESPONSES, transformerName } from "./ccr_transformers.ts";
import { type Draft, newDraft } from "./draft.ts";
import type { ImportResult } from "./imported.ts";
import { readKey } from "./keys.ts";
import { hostSettings, newProviders, type Settings } from "./providers.ts";
import { newReport } from "./report.ts";
import { itemsOf, memberOf, parseSourceText, textOf, type Tree } from "./source.ts";
import { newVariables, variableName } from "./variables.ts";
import { type Part, type Section, writeFile, type Written } from "./written_file.ts";

const HEAD = [
  "Written by switchyard import claude-code-router. ${NAME} is an environment variable; a file .env",
  "beside this one sets them too. The comments name the places of the source.",
];

/** Endings of addresses of endpoints. */
const CHAT_ENDINGS = /\/(?:chat\/completions|responses)$/;
const MESSAGES_ENDINGS = /\/v1\/messages$/;
const GEMINI = /^https:\/\/generativelanguage\.googleapis\.com\/v1(?:alpha|beta)?\/models\/?$/;

/** What a target of the written file calls. */
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
  const { root } = parsed;
  if (memberOf(root, "Providers") === undefined && memberOf(root, "providers") === undefined) {
    return {
      ok: false,
      problem: "this is no configuration of claude-code-router: it has no Providers",
    };
  }
  const report = newReport(root, parsed.replaced);
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
  const main = targetsOf(memberOf(router, "default"), "models.*", "");
  const small = targetsOf(
    memberOf(router, "background"),
    "models.*haiku*",
    "by the name that the agent requests: models with haiku in it",
  );
  reportAbsent(router, report, ROUTES_MISSING);
  reportOthers(root, draft);
  const [first] = main;
  const file = first === undefined ? null : writeFile(HEAD, [
    ...draft.sections(["server"]),
    { key: "providers", from: [], parts: providers.parts() },
    modelsPart(),
    routes(first),
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
    if (named.get(name) !== tree) {
      report.missing(tree, "a later provider has the same name, and replaces it");
      return;
    }
    const transformers = itemsOf(use).map(transformerName);
    const isGemini = GEMINI.test(written);
    const isMessages = MESSAGES_ENDINGS.test(written.split("?", 1)[0] ?? "") ||
      transformers.includes("Anthropic") && !CHAT_ENDINGS.test(written);
    const read = isGemini
      ? {
        ok: true,
        url: HOSTS.gemini.baseUrl,
        host: "generativelanguage.googleapis.com",
        note: "",
      } as const
      : readAddress(written, isMessages ? MESSAGES_ENDINGS : CHAT_ENDINGS, variables);
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
    const secret = textOf(memberOf(tree, "api_key") ?? memberOf(tree, "apiKey"));
    const key = secret === null
      ? { text: null, note: "" }
      : readKey(secret, read.host, variableName(id, "API_KEY"), variables);
    const type = isMessages ? "messages" : "compat";
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
    if (type === "compat" && transformers.includes(RESPONSES)) overResponses.add(added);
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
          : [{ key: "*haiku*", from: from("background"), value: body(small) }],
        { key: "*", from: from("default"), value: body(main) },
      ],
    };
  }

  function routes(first: Target): Part {
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
          { name: "main", ...AGENT, targets: [first] },
        ],
      },
    };
  }
}

function addressOf(provider: Tree): Tree | undefined {
  return memberOf(provider, "api_base_url") ?? memberOf(provider, "baseUrl");
}

/** Agents send a web search that the provider would run, and need signs of life while it thinks. */
const AGENT = { omit_tools: ["web_search"], early_head: "20s" } as const;

function body([first, ...others]: readonly Target[]): Written {
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
};

function reportOthers(root: Tree, { report }: Draft): void {
  const get = (key: string) => memberOf(root, key);
  report.differently(get("PROXY_URL"), [], "set HTTPS_PROXY to it for the gateway");
  report.missing(get("CUSTOM_ROUTER_PATH"), "JavaScript is not run");
  report.missing(get("transformers"), "JavaScript is not run");
  report.missing(get("APIKEY"), "no text that a header can carry");
  for (const key of ["StatusLine", "NON_INTERACTIVE_MODE", "CLAUDE_PATH", "Presets", "preset"]) {
    report.noMeaning(get(key), "how the router starts Claude Code");
  }
}
