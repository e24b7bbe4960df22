import { newCallClient, parseControls } from "../call/call.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { ROUTED_PATHS } from "../core/endpoint.ts";
import { matchesModel, matchesProvider } from "../routing/eligible.ts";
import { matchRoute } from "../routing/match.ts";
import { parseRequestedModel } from "../routing/requested_model.ts";

/** Path of the example call for new users. */
export const CHAT_PATH = ROUTED_PATHS.chat_completions;

/** Path of a call whose response can be continued. */
export const RESPONSES_PATH = "/v1/responses";

/** Placeholder of a model if the file names none. */
const PLACEHOLDER = "MODEL";

/**
 * Returns a model, as `<provider>/<model>`, for which a chat call without headers is served, from the
 * first route where the file names one. Null if every route requires more than a model.
 */
export function firstModel(generation: Generation): string | null {
  for (const names of [knownModels, () => [PLACEHOLDER]]) {
    for (const [index, route] of generation.routes.entries()) {
      const listed = generation.config.routing.routes[index]?.match.models ?? [];
      for (const target of route.targets) {
        const { id } = target.provider;
        const found = names(target, listed).map((name) =>
          name.startsWith(`${id}/`) ? name : `${id}/${name}`
        ).find((model) => isServed(model, route, generation));
        if (found !== undefined) return found;
      }
    }
  }
  return null;
}

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
  const body = JSON.stringify(fields).replaceAll("'", "'\\''");
  return `curl ${fields.stream === true ? "-N " : ""}${header}${address} -d '${body}'`;
}

/** Returns an example call for the configuration; a sentence if there is none. */
export function firstCall(generation: Generation, url: string): string {
  const model = firstModel(generation);
  if (model === null) {
    return 'Each route requires certain headers, paths or client keys; "switchyard explain" prints them.';
  }
  const curl = chatCurl(url, { model }, keyHeader(generation));
  const hints = [
    ...(generation.clientKeys.length > 0 ? ["put a client key in SWITCHYARD_KEY"] : []),
    ...(model.endsWith(`/${PLACEHOLDER}`)
      ? [`put a model of that provider in the place of ${PLACEHOLDER}`]
      : []),
  ];
  return hints.length === 0 ? curl : `${curl}\n(${hints.join("; ")})`;
}

/** Returns the header argument with the name of a key variable, never with a key. */
function keyHeader({ clientKeys, config }: Generation): string {
  if (clientKeys.length === 0) return "";
  const { header, prefix } = config.security.api_key;
  return `-H "${header}: ${prefix === "" ? "" : `${prefix} `}$SWITCHYARD_KEY" `;
}

function knownModels(target: RouteTarget, listed: readonly string[]): readonly string[] {
  const { default_model, models } = target.provider.settings;
  if (target.model !== null) return [target.model];
  const literal = listed.filter((name) => !name.includes("*"));
  return [...(default_model === undefined ? [] : [default_model]), ...models.static, ...literal];
}

function isServed(model: string, route: Route, generation: Generation): boolean {
  const headers = new Headers();
  const call = {
    path: CHAT_PATH,
    headers,
    controls: parseControls(headers),
    generation,
    client: newCallClient(),
  };
  const requested = parseRequestedModel(call, model);
  if (!requested.ok || matchRoute(call, ["chat_completions"], requested.value) !== route) {
    return false;
  }
  return route.targets.some((target) =>
    target.weight > 0 && matchesProvider(target, requested.value) &&
    matchesModel(target, requested.value)
  );
}
