import { parseControls } from "../call/call.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { isModel, isProvider } from "../routing/eligible.ts";
import { matchRoute } from "../routing/match.ts";
import { parseRequestedModel } from "../routing/requested_model.ts";

/** The path of the call that is shown to new users. */
export const CHAT_PATH = "/v1/chat/completions";

/** The path of a call whose answer can be continued. */
export const RESPONSES_PATH = "/v1/responses";

/** Stands for a model where the file names none. */
const PLACEHOLDER = "MODEL";

/**
 * A model for which a chat call without any headers is served, written `<provider>/<model>`; of the
 * first route where the file names one. Null when every route wants more than a model.
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

/** A curl command for a chat call, to be pasted into a shell. */
export function chatCurl(
  url: string,
  fields: Readonly<Record<string, unknown>>,
  header = "",
): string {
  const messages = [{ role: "user", content: "Say hello." }];
  return curlOf(`${url}${CHAT_PATH}`, { ...fields, messages }, header);
}

/** A curl command that creates a response, to be pasted into a shell. */
export function responsesCurl(url: string, fields: Readonly<Record<string, unknown>>): string {
  return curlOf(`${url}${RESPONSES_PATH}`, fields, "");
}

function curlOf(
  address: string,
  fields: Readonly<Record<string, unknown>>,
  header: string,
): string {
  const body = JSON.stringify(fields).replaceAll("'", "'\\''");
  return `curl ${fields.stream === true ? "-N " : ""}${header}${address} -d '${body}'`;
}

/** The first call to try; a sentence when there is none to show. */
export function firstCall(generation: Generation, url: string): string {
  const model = firstModel(generation);
  if (model === null) {
    return 'Every route wants certain headers or paths; "switchyard explain" tells which.';
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

/** A key is only ever named, never shown. */
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
  const call = { path: CHAT_PATH, headers, controls: parseControls(headers), generation };
  const wanted = parseRequestedModel(call, model);
  if (!wanted.ok || matchRoute(call, ["chat_completions"], wanted.value) !== route) return false;
  return route.targets.some((target) =>
    target.weight > 0 && isProvider(target, wanted.value) && isModel(target, wanted.value)
  );
}
