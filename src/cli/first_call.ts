import { keyField, requiresKey } from "../access/presented_key.ts";
import type { Generation } from "../call/generation.ts";
import { ROUTED_PATHS } from "../core/endpoint.ts";
import { quoted } from "../record/curl.ts";
import { firstModel, PLACEHOLDER } from "../routing/first_model.ts";

/** Path of the example call for new users. */
export const CHAT_PATH = ROUTED_PATHS.chat_completions;

/** Path of a call whose response can be continued. */
export const RESPONSES_PATH = "/v1/responses";

/** Returns a curl command for a chat call, quoted for a shell. */
export function chatCurl(
  url: string,
  fields: Readonly<Record<string, unknown>>,
  header = "",
): string {
  const messages = [{ role: "user", content: "Say hello." }];
  return formatCurl(`${url}${CHAT_PATH}`, { ...fields, messages }, header);
}

/** Returns a curl command that creates a response, quoted for a shell. */
export function responsesCurl(url: string, fields: Readonly<Record<string, unknown>>): string {
  return formatCurl(`${url}${RESPONSES_PATH}`, fields, "");
}

/** Returns a curl command for another endpoint, quoted for a shell. */
export function otherCurl(
  url: string,
  path: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  return formatCurl(`${url}${path}`, fields, "");
}

function formatCurl(
  address: string,
  fields: Readonly<Record<string, unknown>>,
  header: string,
): string {
  const body = quoted(JSON.stringify(fields));
  return `curl ${fields.stream === true ? "-N " : ""}${header}${address} -d ${body}`;
}

/** Returns an example call for the configuration; a sentence if there is none. */
export function firstCall(generation: Generation, url: string): string {
  const model = firstModel(generation);
  if (model === null) {
    return 'Each route requires certain headers, paths or client keys; "switchyard explain" prints them.';
  }
  const curl = chatCurl(url, { model }, keyHeader(generation));
  const hints = [
    ...(requiresKey(generation) ? ["put a client key in SWITCHYARD_KEY"] : []),
    ...(model.endsWith(`/${PLACEHOLDER}`)
      ? [`put a model of that provider in the place of ${PLACEHOLDER}`]
      : []),
  ];
  return hints.length === 0 ? curl : `${curl}\n(${hints.join("; ")})`;
}

/** Returns the header argument with the name of a key variable, never with a key. */
function keyHeader(generation: Generation): string {
  if (!requiresKey(generation)) return "";
  const field = keyField(generation.config.security.api_key, "");
  // Between double quotes a shell would expand what a prefix may have.
  return /^[\w:. -]*$/.test(field)
    ? `-H "${field}$SWITCHYARD_KEY" `
    : `-H ${quoted(field)}"$SWITCHYARD_KEY" `;
}
