import { load } from "../config/load.ts";
import { parseControls } from "../call/call.ts";
import { compile } from "../gateway/compile.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  OK_STATUS,
  printProblems,
  USUAL_CONFIG,
  wrongUsage,
} from "./command.ts";
import { explanation } from "./explanation.ts";
import { CHAT_PATH } from "./first_call.ts";

/** Command `switchyard explain`: prints the targets of a request without sending it. */
export const explain: Command = {
  name: "explain",
  about:
    "Prints the route and targets for a request, and why the rest is skipped; exit code 1 without a target.",
  options: {
    config: CONFIG_OPTION,
    model: { value: "MODEL", about: "The requested model; auto leaves the choice to the route." },
    path: { value: "PATH", about: `The path of the request; ${CHAT_PATH} by default.` },
    header: {
      value: "NAME=VALUE",
      about: "A header of the request; may be repeated.",
      isRepeatable: true,
    },
    provider: {
      value: "ID",
      about: "The requested provider, as in the X-Gateway-Provider header.",
    },
  },
  async run(options, terminal) {
    const model = optionValue(options, "model");
    if (model === undefined) return wrongUsage(terminal, "explain", "--model is missing.");
    const path = optionValue(options, "path") ?? CHAT_PATH;
    if (!path.startsWith("/")) return wrongUsage(terminal, "explain", "--path must begin with /.");
    const headers = parseHeaders(options);
    if (typeof headers === "string") return wrongUsage(terminal, "explain", headers);
    const file = optionValue(options, "config") ?? USUAL_CONFIG;
    const loaded = await load(file, terminal.environment);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const generation = compile(loaded.config, 1);
    const call = { path, headers, controls: parseControls(headers), generation };
    const { lines, isServed } = explanation(call, model);
    terminal.out(lines.map((line) => `${line}\n`).join(""));
    return isServed ? OK_STATUS : FAILED_STATUS;
  },
};

/** Pattern of a header value (RFC 9110, field values). */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the headers of the request, or their problem as a sentence. */
function parseHeaders(options: OptionValues): Headers | string {
  const headers = new Headers();
  for (const written of options.get("header") ?? []) {
    const [, name, value = ""] = /^([\w!#$%&'*+.^`|~-]+)=([^]*)$/.exec(written) ?? [];
    if (name === undefined || !HEADER_VALUE.test(value)) {
      return "--header must be written NAME=VALUE.";
    }
    headers.append(name, value);
  }
  const provider = optionValue(options, "provider") ?? "";
  if (!HEADER_VALUE.test(provider)) return "--provider must be the ID of a provider.";
  if (provider !== "") headers.set("x-gateway-provider", provider);
  return headers;
}
