import { isRequestType, REQUEST_TYPES, ROUTED_PATHS } from "../core/endpoint.ts";
import { isObject, isTooDeep, type JsonObject, parseExact } from "../core/json/json.ts";
import { VERSION } from "../core/version.ts";
import type { Generation, RouteTarget } from "../call/generation.ts";

/** What the dashboard may say on the control channel; all else is `wrong`. */
export type RemoteMessage =
  | { readonly type: "heartbeat" }
  | { readonly type: "sandbox.execute"; readonly command: RemoteCommand }
  | {
    readonly type: "wrong";
    /** Null: nobody waits for an answer. */
    readonly commandId: string | null;
    /** One sentence that holds nothing of the message. */
    readonly reason: string;
  };

/** A request that the dashboard wants tried, as the gateway's own handler takes it. */
export interface RemoteCommand {
  readonly id: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** What became of a command. */
export interface SandboxResponse {
  readonly command_id: string;
  /** True when the whole answer is there and its status is one of success. */
  readonly ok: boolean;
  readonly status_code: number;
  /** By lower-case name; only those that are safe to show. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole answer as text, that of a stream with all its events; null when there is none. */
  readonly body: string | null;
  /** One sentence; null when `ok`. */
  readonly error: string | null;
}

const TYPES = new Intl.ListFormat("en-GB", { type: "disjunction" });

const LONGEST_ID = 256;
const encoder = new TextEncoder();

/** Reads a text message of the dashboard. */
export function parseMessage(text: string): RemoteMessage {
  const message = parseExact(text);
  if (!isObject(message)) return wrong(null, "The message is not a JSON object.");
  if (message.type === "heartbeat") return { type: "heartbeat" };
  const id = idOf(message.command_id);
  if (message.type !== "sandbox.execute") return wrong(id, "The message is of an unknown type.");
  if (id === null) return wrong(null, "The command has no usable command_id.");
  return readCommand(id, message);
}

function readCommand(id: string, { target, request_type, request }: JsonObject): RemoteMessage {
  if (!isRequestType(request_type)) {
    return wrong(id, `request_type must be ${TYPES.format(REQUEST_TYPES)}.`);
  }
  const path = ROUTED_PATHS[request_type];
  // What is nested deeper could not be written as JSON again.
  if (!isObject(request) || isTooDeep(request)) return wrong(id, "request must be a JSON object.");
  const { mode, value } = isObject(target) ? target : {};
  if (!isName(value)) return wrong(id, "target must hold a mode and a value.");
  switch (mode) {
    case "route":
      return execute(id, path, { "x-gateway-route": headerValue(value) }, request);
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

function idOf(written: unknown): string | null {
  return typeof written === "string" && written !== "" && written.length <= LONGEST_ID
    ? written
    : null;
}

/** A header cannot hold control characters, and loses blanks at its ends: another name would be left. */
function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.trim() === value &&
    !/\p{Cc}/u.test(value);
}

/** One character for each byte of UTF-8, as headers arrive from a socket. */
function headerValue(text: string): string {
  let value = "";
  for (const byte of encoder.encode(text)) value += String.fromCharCode(byte);
  return value;
}

/**
 * The first message of a connection, sent again when it changes: who this gateway is and what can be
 * tried at it. Models are canonical, `<provider>/<model>`; those that a provider lists only when
 * asked are not among them.
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
