import { isRequestType, REQUEST_TYPES, ROUTED_PATHS } from "../core/endpoint.ts";
import { listOf } from "../config/list_of.ts";
import { isObject, isTooDeep, type JsonObject, parseExact } from "../core/json/json.ts";
import { encodeHeaderText } from "../core/header_fields.ts";
import { VERSION } from "../core/build.ts";
import type { Generation, RouteTarget } from "../call/generation.ts";

/** A parsed message of the dashboard; `wrong` is any message that is not supported. */
export type RemoteMessage =
  | { readonly type: "heartbeat" }
  | { readonly type: "sandbox.execute"; readonly command: RemoteCommand }
  | {
    readonly type: "wrong";
    /** ID for the error response; null if the message has none. */
    readonly commandId: string | null;
    /** Reason as one sentence, without any part of the message. */
    readonly reason: string;
  };

/** A request of the dashboard for the handler of the gateway. */
export interface RemoteCommand {
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Request body as JSON text. */
  readonly body: string;
}

/** Response to a command. */
export interface SandboxResponse {
  readonly command_id: string;
  /** True if the response is complete and its status is 2xx. */
  readonly ok: boolean;
  readonly status_code: number;
  /** Response headers that are safe to show, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole response body as text, with all events of a stream. */
  readonly body: string | null;
  /** Error as one sentence; null if `ok`. */
  readonly error: string | null;
}

/** Maximum length of a command ID. */
const MAX_ID_CHARS = 256;
/** Parses a text message of the dashboard. */
export function parseMessage(text: string): RemoteMessage {
  const message = parseExact(text);
  if (!isObject(message)) return wrong(null, "The message is not a JSON object.");
  if (message.type === "heartbeat") return { type: "heartbeat" };
  const id = parseId(message.command_id);
  if (message.type !== "sandbox.execute") return wrong(id, "The message has an unknown type.");
  if (id === null) return wrong(null, "The command has no usable command_id.");
  return parseCommand(id, message);
}

function parseCommand(id: string, { target, request_type, request }: JsonObject): RemoteMessage {
  if (!isRequestType(request_type)) {
    return wrong(id, `request_type must be ${listOf(REQUEST_TYPES, "disjunction")}.`);
  }
  const path = ROUTED_PATHS[request_type];
  // A request that is nested deeper could not be encoded as JSON again.
  if (!isObject(request) || isTooDeep(request)) return wrong(id, "request must be a JSON object.");
  const { mode, value } = isObject(target) ? target : {};
  if (!isName(value)) return wrong(id, "target must contain a mode and a value.");
  switch (mode) {
    case "route":
      return execute(id, path, { "x-gateway-route": encodeHeaderText(value) }, request);
    case "model":
      return execute(id, path, {}, { ...request, model: value });
    default:
      return wrong(id, "The mode of target must be route or model.");
  }
}

function execute(
  id: string,
  path: string,
  headers: RemoteCommand["headers"],
  request: JsonObject,
): RemoteMessage {
  return {
    type: "sandbox.execute",
    command: { id, path, headers, body: JSON.stringify(request) },
  };
}

function wrong(commandId: string | null, reason: string): RemoteMessage {
  return { type: "wrong", commandId, reason };
}

function parseId(written: unknown): string | null {
  return typeof written === "string" && written !== "" && written.length <= MAX_ID_CHARS
    ? written
    : null;
}

/**
 * True for a name that a header can carry unchanged: no control characters, no blanks around it.
 */
function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.trim() === value &&
    !/\p{Cc}/u.test(value);
}

/**
 * Returns the first message of a connection: identity, routes and models of this gateway. It is
 * sent again after a change. Models have the form `<provider>/<model>`; models known only from a
 * request to the provider are not included.
 */
export function newHello(instanceId: string, { routes }: Generation) {
  return {
    type: "hello",
    instance_id: instanceId,
    version: VERSION,
    routes: routes.map(({ name }) => name),
    models: [...new Set(routes.flatMap(({ targets }) => targets.flatMap(modelsOf)))].toSorted(),
  };
}

function modelsOf({ provider, model, weight }: RouteTarget): string[] {
  if (weight === 0) return [];
  const { default_model, models: { mode, static: listed } } = provider.settings;
  const known = mode === "static" ? listed : provider.wire.catalog.known(provider);
  const open = default_model === undefined ? known : [default_model, ...known];
  return (model === null ? open : [model]).map((name) => `${provider.id}/${name}`);
}
