import { type Context, Hono } from "@hono/hono";
import type { ApiRequest, ClientApi, Endpoint, SocketEndpoint } from "../api/client_api.ts";
import { clientApis, factsOf } from "../api/registry.ts";
import { isJsonType } from "../api/stored/response_document.ts";
import { isForeignFile } from "../api/spoken_api.ts";
import { type EndpointFacts, UNKNOWN_ENDPOINT } from "../core/endpoint.ts";
import type { JsonDocument } from "../core/json/json.ts";
import type { Reply } from "../core/stream/reply.ts";
import { cancelled, type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { emptyDocument } from "../formats/document.ts";
import { formText } from "../formats/multipart.ts";
import { type Call, recordModel } from "../call/call.ts";
import { awaitTurn } from "../call/call_turns.ts";
import { policyOf, replaceDocument, replaceForm, startPrivacy } from "../redaction/request.ts";
import { recordBodySession } from "../call/session.ts";
import { parseSteering } from "../access/steering.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { newCall } from "./new_call.ts";
import { type BodyLimits, leaveUnread, readBody, readForm } from "./body.ts";
import { internalError } from "./internal_error.ts";
import { endConnection } from "../runtime/connections/end_connection.ts";
import { type Admission, clientOver, newAdmission } from "./admission/admit.ts";
import { finishAnswer } from "./finish_answer.ts";
import { newFlusher } from "./flusher.ts";
import { newPace } from "./pace.ts";
import { isClientCall, takePlace } from "./admission/overload.ts";
import type { Peer } from "../runtime/peer.ts";
import { respond } from "./respond.ts";
import { newOpenSockets } from "./websocket/open_sockets.ts";
import { openSocket, refuseHead, refuseVersion } from "./websocket/socket.ts";
import { turnForText } from "../traffic/loop_turns.ts";
import { onDisconnect } from "../runtime/listener_request.ts";

/**
 * Serves every request of the gateway. `peer` is the client end of its connection. Never rejects.
 */
export type App = (request: Request, peer?: Peer) => Promise<Response>;

/** Environment of a request in the router: the client end of its connection, and its gateway. */
interface Bindings {
  readonly peer: Peer;
  readonly handlers: Handlers;
}

type GatewayContext = Context<{ Bindings: Bindings }>;

/** Answers the requests of one gateway. */
interface Handlers {
  serve(context: GatewayContext, endpoint: Endpoint, facts: EndpointFacts): Promise<Response>;
  serveSocket(
    context: GatewayContext,
    facts: EndpointFacts,
    open: SocketEndpoint["newSession"],
  ): Promise<Response>;
  wrongMethod(context: GatewayContext, path: Path): Promise<Response>;
  unknownPath(context: GatewayContext): Promise<Response>;
}

/** A path of a client API and its methods, for requests with another method. */
interface Path {
  readonly methods: string[];
  readonly facts: EndpointFacts;
}

/**
 * Returns the request handler of the gateway: the client APIs, and an error response for every
 * other path. Requests that do not come over the listener have an admission that differs from the
 * default.
 */
export function createApp(gateway: Gateway, admit: Admission = newAdmission(gateway)): App {
  const responder = { ended: gateway.ended, flusher: newFlusher(), pace: newPace() };
  const limits = gateway.generation.config.server;
  const openSockets = newOpenSockets(limits.max_sockets_per_client, gateway.world);
  const handlers: Handlers = {
    serve,
    serveSocket,
    wrongMethod,
    async unknownPath({ req, env: { peer } }) {
      const call = callOf(req, UNKNOWN_ENDPOINT, peer);
      return await respondUnread(
        call,
        req.raw,
        await enter(call, req.raw, peer) ?? unknownUrl(),
        peer,
      );
    },
  };
  const { fetch } = router ??= newRouter();
  return (request, peer = {}) => Promise.resolve(fetch(request, { peer, handlers }));

  function callOf({ raw, path }: Context["req"], known: EndpointFacts, peer: Peer): Call {
    return newCall(gateway, raw, path, known, peer);
  }

  /** Returns the response to a call whose body is not read. Its path is in its report too. */
  async function respondUnread(
    call: Call,
    request: Request,
    result: Result<Reply>,
    peer: Peer,
  ): Promise<Response> {
    if (call.client.privacy === null) startPrivacy(call, policyOf(call));
    await leaveUnread(call, request);
    return respond(call, result, responder, peer);
  }

  /**
   * Admits a call. A client that disconnects while a shared store is queried cancels it; there is
   * nothing to watch if the result is there, which is cheaper for refused calls.
   */
  function enter(call: Call, request: Request, peer: Peer): ReturnType<Admission> {
    const entered = admit(call, request, peer);
    return entered instanceof Promise ? entered.finally(watchClient(call, request)) : entered;
  }

  async function serve(
    { req, env: { peer } }: GatewayContext,
    endpoint: Endpoint,
    facts: EndpointFacts,
  ): Promise<Response> {
    const call = callOf(req, facts, peer);
    const entered = admit(call, req.raw, peer);
    // As in `enter`, but for the whole call: newer runtimes never end a request that is watched
    // twice.
    const earlyUnwatch = entered instanceof Promise ? watchClient(call, req.raw) : null;
    // Awaiting what is there would cost each call a microtask.
    const stopped = (entered instanceof Promise ? await entered : entered) ??
      (isForeignFile(req.path, call.headers) ? unknownUrl() : takePlace(call));
    if (stopped !== null) {
      earlyUnwatch?.();
      return await respondUnread(call, req.raw, stopped, peer);
    }
    peer.admitted?.(call);
    if (call.generation.privacy !== null) startPrivacy(call, policyOf(call));
    const unwatch = earlyUnwatch ?? watchClient(call, req.raw);
    const answered = await runEndpoint(call, req, endpoint, limits);
    const { privacy } = call.client;
    const finished = privacy === null ? null : await finishAnswer(call, privacy, answered);
    const result = finished?.made ?? answered;
    unwatch();
    const response = respond(call, result, responder, peer, finished?.reply);
    // The router drops the body of a response to HEAD, so nothing would ever end the call.
    if (req.raw.method === "HEAD") await response.body?.cancel();
    if (result.ok || call.responseHeaders["connection"] !== "close") return response;
    if (result.failure.kind === "request_timeout") {
      return await endConnection(response, call.headers, peer, gateway.world);
    }
    // Newer runtimes keep the connection open, whatever the header, because the body was not read.
    // Requests over HTTP/2, which have no `Host` header here, share their connection.
    if (call.headers.has("host")) peer.disconnect?.();
    return response;
  }

  async function serveSocket(
    { req, env: { peer } }: GatewayContext,
    facts: EndpointFacts,
    open: SocketEndpoint["newSession"],
  ): Promise<Response> {
    const call = callOf(req, facts, peer);
    const entered = admit(call, req.raw, peer);
    // As in `enter`, but also for the turn of the socket.
    const unwatch = entered === null || entered instanceof Promise
      ? watchClient(call, req.raw)
      : () => {};
    const admitted = await entered;
    const client = clientOver(peer)(call);
    const stopped = admitted ?? refuseVersion(call) ?? refuseHead(req.raw, peer) ??
      await refuseSocket(call, client, peer);
    unwatch();
    if (stopped !== null) return await respondUnread(call, req.raw, stopped, peer);
    if (call.generation.privacy !== null) startPrivacy(call, policyOf(call));
    const { admission } = call.state;
    const session = open(
      limits.max_json_members,
      (bytes, drop) => admission.holdDroppable(`dialogue ${call.id}`, bytes, drop),
    );
    const options = { call, peer, session, responder, client, openSockets };
    const opened = openSocket(gateway, req.raw, options);
    return opened instanceof Response ? opened : await respondUnread(call, req.raw, opened, peer);
  }

  /** Returns the refusal of a further socket; null when it may be opened. */
  async function refuseSocket(call: Call, client: string, peer: Peer): Promise<Failed | null> {
    const { cancellation } = call;
    // Else nothing bounds what the runtime reads of it before it does anything else: measured, 32
    // MiB of empty fragments, which take half a second.
    const mayBeFound = await peer.located?.() ?? true;
    if (!mayBeFound) return tooManyOnPort();
    const mayOpen = await openSockets.nextTurn(client, cancellation);
    if (cancellation.isCancelled) return cancelled(cancellation.reason);
    if (call.state.inFlight.isDraining) return draining();
    return mayOpen ? null : tooManySockets(limits.max_sockets_per_client);
  }

  async function wrongMethod(
    { req, env: { peer } }: GatewayContext,
    { methods, facts }: Path,
  ): Promise<Response> {
    const call = callOf(req, facts, peer);
    const stopped = await enter(call, req.raw, peer);
    if (stopped !== null) return await respondUnread(call, req.raw, stopped, peer);
    call.responseHeaders["allow"] = methods.flatMap(withHead).join(", ");
    const refusal = refuse("method_not_allowed", `Use ${methods.join(" or ")} on this path.`);
    return await respondUnread(call, req.raw, refusal, peer);
  }
}

/** The router of all gateways of this process: the endpoints are the same for each. */
let router: Hono<{ Bindings: Bindings }> | null = null;

function newRouter(): Hono<{ Bindings: Bindings }> {
  const hono = new Hono<{ Bindings: Bindings }>();
  // Three routers, tried in order: a router without two matching routes finds a path in a table,
  // and a path that two handlers match costs 5 % of a request.
  const withParameters = new Hono<{ Bindings: Bindings }>();
  const fallbackRouter = new Hono<{ Bindings: Bindings }>();
  const paths = new Map<string, Path>();
  for (const api of clientApis) {
    for (const endpoint of api.endpoints) {
      const facts = factsOf(api, endpoint);
      const one = endpoint.path.includes(":") ? withParameters : hono;
      one.on(
        endpoint.method,
        endpoint.path,
        (context) => context.env.handlers.serve(context, endpoint, facts),
      );
      pathOf(endpoint.path, api).methods.push(endpoint.method);
    }
    for (const socket of api.sockets ?? []) {
      const facts = factsOf(api, socket);
      hono.get(
        socket.path,
        (context) => context.env.handlers.serveSocket(context, facts, socket.newSession),
      );
      pathOf(socket.path, api).methods.push("GET");
    }
  }
  for (const [path, known] of paths) {
    fallbackRouter.all(path, (context) => context.env.handlers.wrongMethod(context, known));
  }
  hono.notFound(({ req, env }) => withParameters.fetch(req.raw, env));
  withParameters.notFound(({ req, env }) => fallbackRouter.fetch(req.raw, env));
  fallbackRouter.notFound((context) => context.env.handlers.unknownPath(context));
  return hono;

  function pathOf(path: string, { errors }: ClientApi): Path {
    const known = paths.get(path) ?? { methods: [], facts: { ...UNKNOWN_ENDPOINT, errors } };
    paths.set(path, known);
    return known;
  }
}

/**
 * Cancels a call when its client disconnects. Returns a function that ends this: the runtime also
 * reports the end of a successful response, so it counts only until the response exists.
 */
function watchClient({ cancellation }: Call, request: Request): () => void {
  let isWatched = true;
  onDisconnect(request, () => {
    if (isWatched) cancellation.clientDisconnected();
  });
  return () => void (isWatched = false);
}

function unknownUrl(): Failed {
  return refuse(
    "unknown_url",
    "This path is not offered here; 'switchyard help endpoints' lists the paths.",
  );
}

function draining(): Failed {
  return refuse("draining", "The gateway is shutting down; open the socket again.");
}

function tooManySockets(max: number): Failed {
  return refuse(
    "too_many_sockets",
    `This client has ${max} open sockets, as many as server.max_sockets_per_client allows; close one.`,
  );
}

function tooManyOnPort(): Failed {
  return refuse(
    "too_many_sockets",
    "This client has too many connections from one port to several addresses; use another port.",
  );
}

async function runEndpoint(
  call: Call,
  req: Context["req"],
  endpoint: Endpoint,
  limits: BodyLimits,
): Promise<Result<Reply>> {
  const problem = pathProblem(req.path, endpoint);
  if (problem !== null || endpoint.body === false) await leaveUnread(call, req.raw);
  if (problem !== null) return problem;
  try {
    const sent = isMultipart(call, endpoint)
      ? await receiveForm(call, req, endpoint, limits)
      : await receiveJson(call, req, endpoint, limits);
    if (!sent.ok) return sent;
    // Health, readiness and metrics are served in a turn that is full too.
    if (isClientCall(call)) {
      const { cancellation, turns } = call;
      const { length } = sent.value.document.text;
      const turn = turnForText(turns, length, "large", cancellation) ??
        turns.next("start", cancellation);
      const stopped = turn === null ? null : await awaitTurn(call, turn);
      if (stopped !== null) return stopped;
    }
    return await endpoint.handle(call, sent.value);
  } catch (error) {
    return internalError(call, error);
  }
}

/** Returns the request of a multipart body. */
async function receiveForm(
  call: Call,
  req: Context["req"],
  endpoint: Endpoint,
  limits: BodyLimits,
): Promise<Result<ApiRequest>> {
  const form = await readForm(call, req.raw, limits);
  if (!form.ok) return form;
  call.client.steering = parseSteering(
    call.client.key,
    call.controls.model,
    () => form.value.parts.map(({ name }) => [name, formText(form.value, name) ?? ""] as const),
  );
  const sent = call.client.privacy === null
    ? form
    : await replaceForm(call, form.value, { masks: endpoint.masksValues === true });
  return sent.ok ? success({ ...requestOf(req, endpoint, emptyDocument), form: sent.value }) : sent;
}

/** Returns the request of a JSON body, or of an endpoint without one. */
async function receiveJson(
  call: Call,
  req: Context["req"],
  endpoint: Endpoint,
  limits: BodyLimits,
): Promise<Result<ApiRequest>> {
  if (endpoint.body === false) return success(requestOf(req, endpoint, emptyDocument));
  const body = await readBody(call, req.raw, endpoint, limits);
  if (!body.ok) return body;
  call.client.steering = parseSteering(
    call.client.key,
    call.controls.model,
    () => Object.entries(body.value.value),
  );
  // Recorded before the fields are checked: a refused call has its model and its session too.
  if (call.client.privacy === null) recordModel(call, body.value.value.model);
  recordBodySession(call, { body: body.value.value });
  const sent = call.client.privacy === null
    ? body
    : await replaceDocument(call, body.value, { masks: endpoint.masksValues === true });
  if (!sent.ok) return sent;
  if (call.client.privacy !== null) recordModel(call, sent.value.value.model);
  call.capture?.request(sent.value.text, req.raw.url);
  const request = requestOf(req, endpoint, sent.value);
  return success(sent.value === body.value ? request : { ...request, original: body.value });
}

/**
 * True if the body of a request must be multipart: at an endpoint with both, unless it is called
 * JSON.
 */
function isMultipart({ headers }: Call, { body }: Endpoint): boolean {
  if (body !== "multipart or json") return body === "multipart";
  const [type = ""] = (headers.get("content-type") ?? "").split(";", 1);
  return !isJsonType(type.trim().toLowerCase());
}

/**
 * Returns the refusal of a path whose encoded bytes are not valid UTF-8: the router leaves them as
 * they are, and the id in it would be another one at the upstream. The name of a model is only
 * looked up in the gateway, which has none that is no text.
 */
function pathProblem(path: string, endpoint: Endpoint): Failed | null {
  if (!path.includes("%") || endpoint.path.includes("/:model")) return null;
  try {
    decodeURIComponent(path);
    return null;
  } catch {
    return refuse(
      "invalid_value",
      "The path has a percent sign that encodes no UTF-8 text; encode the id in it again.",
    );
  }
}

function requestOf(req: Context["req"], { path }: Endpoint, document: JsonDocument): ApiRequest {
  const params = path.includes(":") ? req.param() : NO_PARAMS;
  return { params, query: parseQuery(req.raw.url), document };
}

const NO_PARAMS = {};

/** Shared empty query; queries are never mutated. */
const NO_QUERY = new URLSearchParams();

function parseQuery(url: string): URLSearchParams {
  const mark = url.indexOf("?");
  return mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark));
}

function withHead(method: string): string[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}
