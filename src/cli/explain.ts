import { load } from "../config/load.ts";
import { nearest } from "../config/problems.ts";
import type { Generation } from "../call/generation.ts";
import { newCallClient, parseControls } from "../call/call.ts";
import { policyOf } from "../call/privacy.ts";
import { compile } from "../gateway/compile.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  OK_STATUS,
  printProblems,
  USUAL_CONFIG,
  wrongUsage,
} from "./command.ts";
import { explainRouting, parseExplainedHeaders, USUAL_PATH } from "../routing/explain.ts";
import { REQUEST_FORMS } from "./request_forms.ts";
import { isInGroup } from "../config/templates.ts";
import type { BudgetConfig, ClientKeyConfig, Config } from "../config/schema.ts";

/** Command `switchyard explain`: prints the targets of a request without sending it. */
export const explain: Command = {
  name: "explain",
  about:
    "Prints the route and targets for a request, and why the rest is skipped; exit code 1 without a target.",
  options: {
    config: CONFIG_OPTION,
    model: { value: "MODEL", about: "The requested model; auto leaves the choice to the route." },
    path: { value: "PATH", about: `The path of the request; ${USUAL_PATH} by default.` },
    header: {
      value: "NAME=VALUE",
      about: "A header of the request; may be repeated.",
      isRepeatable: true,
    },
    key: {
      value: "NAME",
      about: "The client key of the request; also prints what the key may use.",
    },
    provider: {
      value: "ID",
      about: "The requested provider, as in the X-Gateway-Provider header.",
    },
  },
  async run(options, terminal) {
    const keyName = optionValue(options, "key");
    const path = optionValue(options, "path") ?? USUAL_PATH;
    const needsModel = keyName === undefined && REQUEST_FORMS.findOwnedFamily(path) === null;
    const model = optionValue(options, "model") ?? (needsModel ? undefined : "auto");
    if (model === undefined) return wrongUsage(terminal, "explain", "--model is missing.");
    if (!path.startsWith("/")) return wrongUsage(terminal, "explain", "--path must begin with /.");
    const provider = optionValue(options, "provider") ?? "";
    const headers = parseExplainedHeaders(options.get("header") ?? [], provider);
    if (typeof headers === "string") return wrongUsage(terminal, "explain", `--${headers}`);
    const file = optionValue(options, "config") ?? USUAL_CONFIG;
    const loaded = await load(file, terminal.environment);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const generation = compile(loaded.config, 1);
    const key = keyName === undefined ? null : findKey(generation, keyName);
    if (typeof key === "string") return printProblems(terminal, [key]);
    const client = { ...newCallClient(), key: key?.compiled ?? null };
    const call = { path, headers, controls: parseControls(headers), generation, client };
    const { lines, isServed } = explainRouting(call, model, REQUEST_FORMS, Date.now());
    const about = key === null ? [] : keyLines(key.written, generation.config);
    terminal.out([...about, ...privacyLines(call), ...lines].map((line) => `${line}\n`).join(""));
    return isServed ? OK_STATUS : FAILED_STATUS;
  },
};

/** Returns the privacy policies that hold for a request, and their rules; nothing without one. */
function privacyLines(call: Parameters<typeof policyOf>[0]): string[] {
  const policy = policyOf(call);
  if (policy === null) return [];
  const rules = [...policy.request, ...policy.response].map(({ name, phase, action }) =>
    `${name} (${phase === "response" ? "answers, " : ""}${action})`
  );
  return [
    `Privacy: policies ${policy.names.join(", ")}${
      policy.refusesUnread ? "; refuses unread data" : ""
    }`,
    `  rules: ${rules.join(", ")}`,
  ];
}

/** Returns a client key as compiled and as written, or the problem with its name as a sentence. */
function findKey({ clientKeys, config }: Generation, name: string) {
  const { keys } = config.security.api_key;
  const compiled = clientKeys.find((one) => one.name === name);
  const written = keys.find((one) => one.name === name);
  if (compiled !== undefined && written !== undefined) return { compiled, written };
  if (written !== undefined) return "No client keys are required: security.enabled is false.";
  const likely = nearest(name, keys.map((one) => one.name));
  return `There is no client key ${name}${likely === null ? "." : `; did you mean ${likely}?`}`;
}

/** Returns what a client key may use, one line for each kind of permission and limit. */
function keyLines(key: ClientKeyConfig, { security, rate_limiting }: Config): string[] {
  const groups = security.groups.filter((group) => isInGroup(group, key));
  const labels = Object.entries(key.labels).map(([name, value]) => `${name}=${value}`);
  const rate = key.requests_per_minute ?? rate_limiting.requests_per_minute;
  const limits = [
    ...(rate_limiting.enabled ? [`${rate} requests per minute`] : []),
    ...tokensText(key.tokens_per_minute),
    ...(key.max_concurrent === undefined ? [] : [`${key.max_concurrent} requests at once`]),
    ...key.budgets.map(budgetText),
  ];
  return [
    `Client key ${key.name}${key.disabled ? ", disabled" : ""}:`,
    `  models: ${listText(key.models)}`,
    `  providers: ${listText(key.providers)}`,
    `  endpoints: ${listText(key.endpoints)}`,
    ...(labels.length === 0 ? [] : [`  labels: ${labels.join(", ")}`]),
    `  limits: ${limits.join(", ") || "none"}`,
    ...groups.map((group) => {
      const shared = [...tokensText(group.tokens_per_minute), ...group.budgets.map(budgetText)];
      return `  limits of group ${group.name}: ${shared.join(", ") || "none"}`;
    }),
    ...(key.expires === undefined
      ? []
      : [`  expires: ${key.expires}, 00:00 in ${security.time_zone}`]),
  ];
}

function listText(names: readonly string[] | undefined): string {
  return names?.join(", ") ?? "all";
}

function tokensText(perMinute: number | undefined): string[] {
  return perMinute === undefined ? [] : [`${perMinute} tokens per minute`];
}

function budgetText({ per, usd, tokens }: BudgetConfig): string {
  const amounts = [
    ...(usd === undefined ? [] : [`${usd} USD`]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
  ];
  return `${amounts.join(" and ")} per ${per}`;
}
