import { nearest } from "../config/problems.ts";
import { visible } from "../core/visible_text.ts";
import type { Generation } from "../call/generation.ts";
import { newCallClient, parseControls } from "../call/call.ts";
import { policyOf } from "../redaction/request.ts";
import { compile } from "../gateway/compile.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { explainRouting, parseExplainedHeaders, USUAL_PATH } from "../routing/explain.ts";
import { explainRecord } from "../record/explain_record.ts";
import { REQUEST_FORMS } from "./request_forms.ts";
import { keyLines } from "./client_lines.ts";
import { type ExplainedClient, explainToken, readToken } from "./explain_token.ts";
import type { Terminal } from "./terminal.ts";

/** Command `switchyard explain`: prints the targets of a request without sending it. */
export const explain: Command = {
  name: "explain",
  about:
    "Prints the route and targets for a request, and why the rest is skipped; exit code 1 without a target.",
  options: {
    config: CONFIG_OPTION,
    model: {
      value: "MODEL",
      about: "The requested model; an empty one leaves the choice to the route.",
    },
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
    token: {
      value: "FILE",
      about:
        "A file with a token of an issuer, or - for stdin; prints its client, or why it is refused.",
    },
    provider: {
      value: "ID",
      about: "The requested provider, as in the X-Gateway-Provider header.",
    },
  },
  async run(options, terminal) {
    const keyName = optionValue(options, "key");
    const path = optionValue(options, "path") ?? USUAL_PATH;
    const tokenFile = optionValue(options, "token");
    if (keyName !== undefined && tokenFile !== undefined) {
      return wrongUsage(terminal, "explain", "--key and --token exclude each other.");
    }
    const needsModel = keyName === undefined && tokenFile === undefined &&
      REQUEST_FORMS.findOwnedFamily(path) === null;
    const model = optionValue(options, "model") ?? (needsModel ? undefined : "");
    if (model === undefined) return wrongUsage(terminal, "explain", "--model is missing.");
    if (!path.startsWith("/")) return wrongUsage(terminal, "explain", "--path must begin with /.");
    const provider = optionValue(options, "provider") ?? "";
    const headers = parseExplainedHeaders(options.get("header") ?? [], provider);
    if (typeof headers === "string") return wrongUsage(terminal, "explain", `--${headers}`);
    const loaded = await loadConfig(options, terminal);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const generation = compile(loaded.config, 1);
    const explained = await explainClient(generation, keyName, tokenFile, terminal);
    if (typeof explained === "string") return printProblems(terminal, [explained]);
    const call = {
      path,
      headers,
      controls: parseControls(headers),
      generation,
      client: { ...newCallClient(), key: explained.client },
    };
    const { lines, isServed, route } = explained.isRefused
      ? { lines: [], isServed: false, route: undefined }
      : explainRouting(call, model, REQUEST_FORMS, Date.now());
    const recorded = explained.isRefused ? [] : explainRecord(call, route);
    terminal.out(
      [...explained.lines, ...privacyLines(call), ...lines, ...recorded]
        .map((line) => `${visible(line)}\n`).join(""),
    );
    return isServed ? OK_STATUS : FAILED_STATUS;
  },
};

/** Returns the client of the request, which has neither key nor token by default, or a problem. */
async function explainClient(
  generation: Generation,
  keyName: string | undefined,
  tokenFile: string | undefined,
  terminal: Terminal,
): Promise<ExplainedClient | string> {
  if (tokenFile !== undefined) {
    const token = await readToken(tokenFile, terminal);
    return token.ok ? await explainToken(token.text, generation) : `--token: ${token.reason}.`;
  }
  if (keyName === undefined) return { client: null, isRefused: false, lines: [] };
  const key = findKey(generation, keyName);
  return typeof key === "string"
    ? key
    : { client: key.compiled, isRefused: false, lines: keyLines(key.written, generation.config) };
}

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
