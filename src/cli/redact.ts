import { findEndpoint } from "../api/registry.ts";
import { newCallClient, parseControls } from "../call/call.ts";
import type { Generation } from "../call/generation.ts";
import { refuseModelHeader, scopesOf } from "../redaction/request.ts";
import { pathIds } from "../redaction/stored_values.ts";
import { redactedText } from "../observe/gateway_fields.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { compile } from "../gateway/compile.ts";
import { type JsonPath, writePath } from "../privacy/json_strings.ts";
import { NO_PACE } from "../privacy/pace.ts";
import { replaceJson } from "../privacy/replace_json.ts";
import { restoreJson } from "../privacy/restore_json.ts";
import type { CallPrivacy, Match } from "../privacy/types.ts";
import { parseExplainedHeaders } from "../routing/explain.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import type { Terminal } from "./terminal.ts";

/** Command `switchyard redact`: prints what privacy rules make of a text or of a request. */
export const redact: Command = {
  name: "redact",
  about:
    "Prints what privacy rules make of a text or a request, and what they found; sends nothing.",
  options: {
    config: CONFIG_OPTION,
    text: { value: "TEXT", about: "The text." },
    file: { value: "FILE", about: "A file with the text or the request; - reads stdin." },
    path: { value: "PATH", about: "Path of the request: the text is its JSON body." },
    key: { value: "NAME", about: "The client key of the request." },
    header: {
      value: "NAME=VALUE",
      about: "A header of the request; may be repeated.",
      isRepeatable: true,
    },
    policy: { value: "NAME", about: "A policy besides privacy.default." },
    count: { value: null, about: "Prints only the counts." },
    diff: { value: null, about: "Prints only the strings that differ, each with its path." },
    "fail-on-match": { value: null, about: "Ends with exit code 1 if a rule has found a value." },
    with: {
      value: "FILE",
      about: "The request or text as it was written: prints the tokens in the input as its values.",
    },
  },
  async run(options, terminal) {
    const trouble = usageTrouble(options);
    if (trouble !== null) return wrongUsage(terminal, "redact", trouble);
    const headers = parseExplainedHeaders(options.get("header") ?? [], "");
    if (typeof headers === "string") return wrongUsage(terminal, "redact", `--${headers}`);
    const loaded = await loadConfig(options, terminal);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const generation = compile(loaded.config, 1);
    const named = newCallPrivacy(generation, options);
    if (typeof named === "string") return printProblems(terminal, [named]);
    const input = await readText(options, terminal);
    const earlier = optionValue(options, "with");
    const original = earlier === undefined ? input : await readFile(earlier, terminal);
    if (input === null || original === null) {
      return printProblems(terminal, ["The file cannot be read."]);
    }
    // As the client's library writes it: the query chooses no endpoint.
    const path = optionValue(options, "path")?.replace(/\?.*$/s, "");
    const request = newRequest(original, path);
    if (request === null) return printProblems(terminal, ["The request is no JSON object."]);
    const { privacy, caller } = named;
    const endpoint = findEndpoint(path ?? "");
    const call = {
      headers,
      path: path ?? "",
      generation,
      caller: { name: caller },
      client: newCallClient(),
      report: { endpoint: { api: endpoint?.api ?? null, path: endpoint?.endpoint.path ?? "" } },
    };
    const refused = refuseModelHeader({ controls: parseControls(headers) }, privacy);
    if (refused !== null) return printProblems(terminal, [messageOf(refused.failure)]);
    const [root] = pathIds(call);
    const unread: string[] = [];
    const found: { readonly match: Match; readonly path: string }[] = [];
    const replaced = await replaceJson(privacy, request.text, request.value, {
      pace: NO_PACE,
      scopes: scopesOf(call, request.value, root),
      masks: endpoint?.endpoint.masksValues === true,
      onMatch: (match, at) => void found.push({ match, path: path === undefined ? "text" : at }),
      onUnread: (at) => void unread.push(`unread: ${at}`),
    });
    if (!replaced.ok) return printProblems(terminal, [messageOf(replaced.failure)]);
    if (earlier !== undefined) {
      terminal.out(restored(input, path, privacy));
      return OK_STATUS;
    }
    const parts = [
      ...options.has("count")
        ? []
        : options.has("diff")
        ? differences(request.text, replaced.value)
        : [shownText(replaced.value, path)],
      ...options.has("count")
        ? []
        : [...found.map(({ match, path }) => matchLine(match, path)), ...unread],
      `X-Gateway-Redacted: ${redactedText(privacy.counts) || "not sent"}`,
    ];
    terminal.out(parts.map((part) => `${part}\n`).join(""));
    return options.has("fail-on-match") && found.length > 0 ? FAILED_STATUS : OK_STATUS;
  },
};

function usageTrouble(options: OptionValues): string | null {
  const [text, file] = [optionValue(options, "text"), optionValue(options, "file")];
  if ((text === undefined) === (file === undefined)) return "One of --text and --file is needed.";
  const path = optionValue(options, "path");
  return path === undefined || path.startsWith("/") ? null : "--path must begin with /.";
}

/** Returns the rules of the request with its client; a sentence if there are none. */
function newCallPrivacy(
  { privacy, clientKeys }: Generation,
  options: OptionValues,
): { readonly privacy: CallPrivacy; readonly caller: string | null } | string {
  const [keyName, policyName] = [optionValue(options, "key"), optionValue(options, "policy")];
  const key = clientKeys.find(({ name }) => name === keyName) ?? null;
  if (keyName !== undefined && key === null) return `There is no client key ${keyName}.`;
  const names = [...key?.privacy ?? [], ...policyName === undefined ? [] : [policyName]];
  const policy = privacy?.policyFor(names) ?? null;
  if (policyName !== undefined && policy?.names.includes(policyName) !== true) {
    return `There is no privacy policy ${policyName}.`;
  }
  return privacy === null || policy === null
    ? "No privacy policy holds for this request."
    : { privacy: privacy.newCall(policy), caller: key?.caller ?? null };
}

async function readText(options: OptionValues, terminal: Terminal): Promise<string | null> {
  const text = optionValue(options, "text");
  return text ?? await readFile(optionValue(options, "file") ?? "", terminal);
}

async function readFile(path: string, terminal: Terminal): Promise<string | null> {
  if (path === "-") return await terminal.input();
  try {
    return await Deno.readTextFile(path);
  } catch {
    return null;
  }
}

/** Returns a request as JSON; a text without a path is searched as one string. */
function newRequest(
  text: string,
  path: string | undefined,
): { readonly text: string; readonly value: JsonObject } | null {
  if (path === undefined) return { text: JSON.stringify({ text }), value: { text } };
  const value = parseJson(text);
  return isObject(value) ? { text, value } : null;
}

function shownText(json: string, path: string | undefined): string {
  const value = path === undefined ? parseJson(json) : undefined;
  return isObject(value) && typeof value.text === "string" ? value.text : json;
}

function restored(
  input: string,
  path: string | undefined,
  { tokens, answer }: CallPrivacy,
): string {
  const json = path === undefined ? JSON.stringify({ text: input }) : input;
  return shownText(restoreJson(json, tokens, answer), path);
}

/** Returns a line for a match, with its place and its length and without its value. */
function matchLine({ rule, start, end }: Match, path: string): string {
  return `${rule.name} (${rule.action}): ${path}, characters ${start} to ${end}, length ${
    end - start
  }`;
}

/** Returns the strings of a replaced JSON text that differ, with their paths. */
function differences(before: string, after: string): string[] {
  const [one, other] = [parseJson(before), parseJson(after)];
  return [...changedStrings(one, other, [])];
}

function* changedStrings(before: unknown, after: unknown, path: JsonPath): Generator<string> {
  if (typeof after === "string" && after !== before) yield `${writePath(path)}: ${after}`;
  else if (Array.isArray(after) && Array.isArray(before)) {
    for (const [index, item] of after.entries()) {
      yield* changedStrings(before[index], item, [...path, index]);
    }
  } else if (isObject(after) && isObject(before)) {
    for (const key of Object.keys(after)) {
      yield* changedStrings(before[key], after[key], [...path, key]);
    }
  }
}
