import type { Message, Session, Turn } from "../../api/client_api.ts";
import { type Failed, refuse, type Result } from "../../core/result.ts";
import { isLongerThan, utf8Text } from "../../formats/utf8.ts";
import type { Call } from "../../call/call.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { internalError } from "../internal_error.ts";
import type { Peer } from "../peer.ts";
import { holdBody, takePlace } from "../admission/overload.ts";
import { finishCall, type Responder } from "../respond.ts";
import { newSocketWriter } from "./socket_writer.ts";
import { newTurns } from "./turns.ts";
import { newTurnCalls, type TurnCalls } from "./turn_call.ts";

/** Maximum size of a client's message. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** A connection without any byte from the client for this time is closed; the runtime pings at half of it. */
const IDLE_TIMEOUT_MS = 60_000;

/** Time for the client to answer the close frame, before the connection counts as closed. */
const CLOSE_TIMEOUT_MS = 1_000;

/** On shutdown: time for the client to read the final error event of a cancelled turn. */
const FINAL_EVENT_TIMEOUT_MS = 3_000;

/** Close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY_CODE = 1001, POLICY_VIOLATION_CODE = 1008, TOO_LARGE_CODE = 1009;

const ENDING = "the gateway is shutting down";

const TOO_LARGE_REASON = "a message may have at most 10 MiB";

/** Dependencies of one WebSocket connection. */
interface SocketOptions {
  /** The handshake, which is one call. */
  readonly call: Call;
  readonly peer: Peer;
  readonly session: Session;
  readonly responder: Responder;
}

/**
 * Opens the WebSocket of an upgrade request and serves its messages until either side closes it.
 * Refused as `upgrade_required` if the request is no upgrade. The handshake is one call, and every
 * turn is a further call. All of them use the configuration of the handshake, except that the key
 * and the rate limit of a turn are checked against the current configuration.
 */
export function openSocket(
  gateway: Gateway,
  request: Request,
  options: SocketOptions,
): Response | Failed {
  // Newer runtimes close a request on upgrade, after which its headers cannot be read.
  const handshake = { ...options.call, headers: new Headers([...options.call.headers]) };
  const calls = newTurnCalls(gateway, handshake, copyPeer(options.peer));
  const upgraded = upgrade(request);
  if (upgraded === null) {
    handshake.responseHeaders["upgrade"] = "websocket";
    return refuse(
      "upgrade_required",
      "This path is for WebSocket connections; send an upgrade request, or POST for one response.",
    );
  }
  const { socket, response } = upgraded;
  for (const [name, value] of Object.entries(handshake.responseHeaders)) {
    response.headers.set(name, value);
  }
  for (const name of ["x-gateway-request-id", "x-request-id"]) {
    response.headers.set(name, handshake.id);
  }
  handshake.report.session = calls.session;
  handshake.report.status = response.status;
  finishCall(handshake, options.responder, { isWhole: true });
  serveSocket(gateway, socket, { ...options, call: handshake, calls });
  return response;
}

/**
 * Counts a message against the concurrency and body memory limits like an HTTP request, with its
 * characters as bytes. Returns the refusal; null if there is room.
 */
function takeMessage(call: Call, { length }: string): Failed | null {
  return takePlace(call) ?? holdBody(call, length);
}

/** Returns a copy of the peer, because the runtime has its address only during the request. */
function copyPeer({ remoteAddr }: Peer): Peer {
  return remoteAddr === undefined ? {} : { remoteAddr };
}

function upgrade(request: Request): Deno.WebSocketUpgrade | null {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return null;
  try {
    return Deno.upgradeWebSocket(request, { idleTimeout: IDLE_TIMEOUT_MS / 1_000 });
  } catch {
    // Another header of the handshake is missing or invalid.
    return null;
  }
}

function serveSocket(
  gateway: Gateway,
  socket: WebSocket,
  { call: { id }, calls, peer, session, responder }: SocketOptions & { readonly calls: TurnCalls },
): void {
  const { world, metrics, state: { inFlight } } = gateway;
  const connection = `socket ${id}`;
  const writer = newSocketWriter(
    socket,
    world,
    responder.flusher,
    () => end(POLICY_VIOLATION_CODE, "the client does not read its messages"),
  );
  const turns = newTurns(writer, responder, () => {
    if (inFlight.isDraining) end(GOING_AWAY_CODE, ENDING);
  });
  let isEnding = false;
  let onClosed = () => {};
  let messageArrived = () => {};
  socket.binaryType = "arraybuffer";

  // The connection counts from here: there are no events for a client that disconnects before.
  socket.onopen = () => {
    const cancellation = inFlight.startConnection(connection);
    metrics.sockets(1);
    const unsubscribe = inFlight.onDrain(leaveWhenIdle);
    // The runtime joins the fragments of a message without a size limit.
    const watch = peer.watchMessages?.(() => end(TOO_LARGE_CODE, TOO_LARGE_REASON));
    if (watch !== undefined) messageArrived = () => watch.arrived();
    cancellation.onCancel(() => {
      leaveWhenIdle();
      // A client that does not read would otherwise keep its turn and its connection open forever.
      world.after(FINAL_EVENT_TIMEOUT_MS, () => end(GOING_AWAY_CODE, ENDING));
    });
    onClosed = () => {
      onClosed = () => {};
      isEnding = true;
      unsubscribe();
      watch?.end();
      turns.leave();
      metrics.sockets(-1);
      inFlight.finish(connection);
    };
    if (inFlight.isDraining) leaveWhenIdle();
  };
  socket.onmessage = ({ data }) => {
    messageArrived();
    if (isEnding) return;
    const isTooLarge = typeof data === "string"
      ? isLongerThan(data, MAX_MESSAGE_BYTES)
      : data.byteLength > MAX_MESSAGE_BYTES;
    if (isTooLarge) return end(TOO_LARGE_CODE, TOO_LARGE_REASON);
    onMessage(typeof data === "string" ? data : utf8Text(new Uint8Array(data)) ?? "");
  };
  socket.onerror = () => onClosed();
  socket.onclose = () => onClosed();

  function onMessage(text: string): void {
    const call = calls.next();
    const { streamId, turn } = parseMessage(call, text);
    const entered = calls.admit(call);
    if (!(entered instanceof Promise)) {
      return turns.add(call, streamId, entered ?? placed(call, turn, text));
    }
    // Its memory counts from its arrival.
    const next = placed(call, turn, text);
    turns.add(call, streamId, next, entered.then((refusal) => refusal ?? next));
  }

  function placed(call: Call, turn: Result<Turn>, text: string): Result<Turn> {
    return (turn.ok ? takeMessage(call, text) : null) ?? turn;
  }

  function parseMessage(call: Call, text: string): Message {
    try {
      return session.parseMessage(text);
    } catch (error) {
      return { streamId: null, turn: internalError(call, error) };
    }
  }

  function leaveWhenIdle(): void {
    turns.close();
    if (turns.isIdle) end(GOING_AWAY_CODE, ENDING);
  }

  function end(code: number, reason: string): void {
    if (isEnding) return;
    isEnding = true;
    turns.leave();
    socket.close(code, reason);
    world.after(CLOSE_TIMEOUT_MS, () => onClosed());
  }
}
