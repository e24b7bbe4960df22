import type { Message, Session } from "../../api/client_api.ts";
import { clientGone, type Failed, refuse } from "../../core/failure/result.ts";
import { utf8Length, utf8Text } from "../../formats/utf8.ts";
import { holdBody } from "../../traffic/call_memory.ts";
import type { ClientKey } from "../../access/client_key.ts";
import type { Call } from "../../call/call.ts";
import type { Generation } from "../../call/generation.ts";
import { policyOf } from "../../redaction/request.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { internalError } from "../internal_error.ts";
import type { Peer } from "../../runtime/peer.ts";
import { boundPongs } from "../../runtime/pongs.ts";
import { takePlace } from "../admission/overload.ts";
import { finishCall, NOSNIFF, type Responder } from "../respond.ts";
import type { OpenSockets } from "./open_sockets.ts";
import { newSocketWriter } from "./socket_writer.ts";
import { type EnteringMessage, isLarge, newTurns, nextTurn } from "./turns.ts";
import { newTurnCalls, type TurnCalls } from "./turn_call.ts";
import { type GiveUpReason, newUnfinishedRules } from "./unfinished_rules.ts";

/** Largest head of a handshake, of which copies stay while the socket is open. */
const MAX_HEAD_BYTES = 32 * 1024;

/** Maximum size of a client's message. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/**
 * Number of small messages of one socket that may wait to begin; a client may have fewer without a
 * response.
 */
const MAX_UNBEGUN_MESSAGES = 32;

/**
 * Time for which a socket that was closed for its frames or messages counts as one of its client: a
 * flood of them costs more than a handshake.
 */
const FLOOD_REST_MS = 60_000;

/** Number of messages with a refused key in succession that close a socket. */
const MAX_KEY_REFUSALS = 2;

/**
 * A connection without any byte from the client for this time is closed; the runtime pings at half
 * of it.
 */
const IDLE_TIMEOUT_MS = 60_000;

/** Time for the client to answer the close frame, before the connection counts as closed. */
const CLOSE_TIMEOUT_MS = 1_000;

/** On shutdown: time for the client to read the final error event of a cancelled turn. */
const FINAL_EVENT_TIMEOUT_MS = 3_000;

/** The only version of the protocol (RFC 6455, section 4.1). */
const VERSION = "13";

/** Close codes (RFC 6455, section 7.4.1). */
const GOING_AWAY_CODE = 1001, POLICY_VIOLATION_CODE = 1008, TOO_LARGE_CODE = 1009;
const RESTART_CODE = 1012, TRY_AGAIN_LATER_CODE = 1013;

const ENDING = "the gateway is shutting down";

const CHANGED_REASON = "the privacy rules have changed; connect again";

const TOO_LARGE_REASON = "a message may have at most 10 MiB";

const TOO_MANY_REASON = "the client has as many sockets as server.max_sockets_per_client allows";

/** Close codes and reasons of sockets whose unfinished message is given up. */
const GIVE_UPS: Readonly<Record<GiveUpReason, readonly [code: number, reason: string]>> = {
  too_large: [TOO_LARGE_CODE, TOO_LARGE_REASON],
  too_slow: [POLICY_VIOLATION_CODE, "the message was not complete within server.body_timeout"],
  flood: [POLICY_VIOLATION_CODE, "too many pings, pongs or empty fragments"],
  no_memory: [
    TRY_AGAIN_LATER_CODE,
    "server.max_body_memory is full, or 64 MiB of messages arrive at once; try again later",
  ],
  unknown: [TRY_AGAIN_LATER_CODE, "the client has other connections from this port; connect again"],
};

type Data = string | ArrayBuffer;

/** Dependencies of one WebSocket connection. */
interface SocketOptions {
  /** The handshake, which is one call. */
  readonly call: Call;
  readonly peer: Peer;
  readonly session: Session;
  readonly responder: Responder;
  /** The client of the handshake, as its sockets are counted. */
  readonly client: string;
  readonly openSockets: OpenSockets;
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
  const headBytes = headBytesOf(request, options.peer);
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
  response.headers.set(...NOSNIFF);
  for (const name of ["x-gateway-request-id", "x-request-id"]) {
    response.headers.set(name, handshake.id);
  }
  handshake.report.status = response.status;
  finishCall(handshake, options.responder, { isWhole: true });
  serveSocket(gateway, socket, { ...options, call: handshake, calls, headBytes });
  return response;
}

/**
 * Returns the refusal of an upgrade request with another version, which the runtime would accept
 * (RFC 6455, section 4.4); null for all others.
 */
export function refuseVersion({ headers, responseHeaders }: Call): Failed | null {
  if (!isUpgrade(headers) || headers.get("sec-websocket-version") === VERSION) return null;
  responseHeaders["sec-websocket-version"] = VERSION;
  responseHeaders["upgrade"] = "websocket";
  return refuse(
    "upgrade_required",
    `The gateway has version ${VERSION} of WebSocket; send 'Sec-WebSocket-Version: ${VERSION}'.`,
  );
}

/**
 * Returns the refusal of a handshake whose head is larger than `MAX_HEAD_BYTES`; null for all
 * others.
 */
export function refuseHead(request: Request, peer: Peer): Failed | null {
  return headBytesOf(request, peer) <= MAX_HEAD_BYTES ? null : refuse(
    "request_too_large",
    "The head of a WebSocket handshake has more than 32 KiB; send fewer or shorter header fields.",
  );
}

/**
 * Counts a message against the concurrency and body memory limits like an HTTP request, with its
 * characters as bytes. Returns the refusal; null if there is room.
 */
function takeMessage(call: Call, data: Data, isChecked = true): Failed | null {
  return takePlace(call, isChecked) ?? holdBody(call, sizeOf(data));
}

/** Returns the size of a message: bytes, or characters of a text. */
function sizeOf(data: Data): number {
  return typeof data === "string" ? data.length : data.byteLength;
}

/** Returns the text of a message; empty if its bytes are not valid UTF-8. */
function textOf(data: Data): string {
  return typeof data === "string" ? data : utf8Text(new Uint8Array(data)) ?? "";
}

/** Returns the least size of the handshake on its connection, by its header fields. */
function headBytesOf({ method, url, headers }: Request, { fields }: Peer): number {
  const target = url.slice(url.indexOf("/", "http://".length));
  let bytes = `${method} ${target} HTTP/1.1\r\n\r\n`.length;
  for (const [name, value] of fields ?? headers) bytes += `${name}:${value}\r\n`.length;
  return bytes;
}

/**
 * Returns the key of a client by the current configuration, or for a token its template; as it was
 * admitted if that is gone.
 */
function currentKey({ clientKeys, tokens }: Generation, key: ClientKey | null) {
  if (key === null) return null;
  const rules = tokens?.issuers.flatMap((issuer) => issuer.rules) ?? [];
  const now = key.issuer === null
    ? clientKeys.find(({ caller }) => caller === key.caller)
    : rules.find(({ template }) => template.template === key.template)?.template;
  return now === undefined ? key : { ...key, privacy: now.privacy };
}

/** Returns a copy of the peer, because the runtime has its address only during the request. */
function copyPeer({ remoteAddr }: Peer): Peer {
  return remoteAddr === undefined ? {} : { remoteAddr };
}

function isUpgrade(headers: Pick<Headers, "get">): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}

function upgrade(request: Request): Deno.WebSocketUpgrade | null {
  if (!isUpgrade(request.headers)) return null;
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
  { call: handshake, calls, headBytes, peer, session, responder, client, openSockets }:
    & SocketOptions
    & { readonly calls: TurnCalls; readonly headBytes: number },
): void {
  const { world, metrics, state: { inFlight, admission } } = gateway;
  const { id, generation: { config: { server } } } = handshake;
  const connection = `socket ${id}`;
  const writer = newSocketWriter(socket, world, responder.flusher, {
    onSend: (text) => messageSent(text),
    onOverflow: dropUnread,
    onUnread: holdUnread,
  });
  const turns = newTurns(writer, responder, {
    onTurn: endIfChanged,
    onIdle: () => {
      if (inFlight.isDraining) leaveWhenIdle();
    },
  });
  const { body_timeout } = server;
  const unfinished = newUnfinishedRules(id, client, admission, world, body_timeout, giveUp);
  /** Small messages that have not begun, the oldest first. */
  const inbox: Data[] = [];
  let isEnding = false;
  let isClosed = false;
  let isFlood = false;
  let keyRefusals = 0;
  /** The client as its last message was admitted. */
  let { key } = handshake.client;
  let onClosed = () => {};
  /** Called when no message waits to begin; does nothing while the socket is open. */
  let onBegun = () => {};
  let messageArrived = (_bytes: number) => {};
  let messageSent = (_text: string) => {};
  let abort = () => peer.abort?.();
  socket.binaryType = "arraybuffer";
  boundPongs(socket, world, () => giveUp("flood"));

  // The connection counts from here: there are no events for a client that disconnects before.
  socket.onopen = () => {
    const cancellation = inFlight.startConnection(connection);
    metrics.sockets(1);
    const unsubscribe = inFlight.onDrain(leaveWhenIdle);
    const endReloads = gateway.onReload(() => {
      if (turns.isIdle) endIfChanged();
    });
    const leave = openSockets.add(client);
    // The runtime joins the fragments of a message without a size limit.
    const watch = peer.watchMessages?.(headBytes, (message) => {
      if (!isEnding) unfinished.check(message);
    });
    if (watch !== undefined) {
      abort = watch.abort;
      messageSent = (text) => watch.sent(utf8Length(text));
      messageArrived = (bytes) => {
        watch.arrived(bytes);
        unfinished.end();
      };
    }
    cancellation.onCancel(() => {
      leaveWhenIdle();
      // A client that does not read would otherwise keep its turn and its connection open forever.
      world.after(FINAL_EVENT_TIMEOUT_MS, () => end(GOING_AWAY_CODE, ENDING));
    });
    onClosed = () => {
      onClosed = () => {};
      isClosed = true;
      turns.leave();
      // What has arrived begins in its turns, as if it had been read a moment earlier, unless the
      // gateway has ended the socket.
      if (isEnding || inbox.length === 0) leaveSocket();
      else onBegun = leaveSocket;
    };
    function leaveSocket() {
      onBegun = () => {};
      isEnding = true;
      unsubscribe();
      endReloads();
      watch?.end();
      unfinished.end();
      holdUnread(0);
      session.end();
      if (isFlood && leave !== null) world.after(FLOOD_REST_MS, leave);
      else leave?.();
      metrics.sockets(-1);
      inFlight.finish(connection);
    }
    if (leave === null) end(TRY_AGAIN_LATER_CODE, TOO_MANY_REASON);
    if (inFlight.isDraining) leaveWhenIdle();
  };
  socket.onmessage = ({ data }: MessageEvent<Data | null>) => {
    // The runtime has no text for a message whose connection was reset just before.
    if (data === null || isEnding) return;
    const bytes = typeof data === "string" ? utf8Length(data) : data.byteLength;
    messageArrived(bytes);
    if (bytes > MAX_MESSAGE_BYTES) end(TOO_LARGE_CODE, TOO_LARGE_REASON);
    else if (inbox.length >= MAX_UNBEGUN_MESSAGES) {
      isFlood = true;
      end(POLICY_VIOLATION_CODE, "too many messages at once");
      // The runtime would go on to read them.
      abort();
    } else addToInbox(data);
  };
  socket.onerror = () => onClosed();
  socket.onclose = () => onClosed();

  /**
   * Begins a message in a turn of the event loop: the runtime passes on all messages that it can
   * read before anything else. What has many characters counts from its arrival, so it begins now.
   */
  function addToInbox(data: Data): void {
    inbox.push(data);
    const chars = inbox.reduce((sum, one) => sum + sizeOf(one), 0);
    while (isLarge(chars) && inbox.length > 0) beginNext();
    if (inbox.length === 1) void beginAll();
  }

  async function beginAll(): Promise<void> {
    while (inbox.length > 0) {
      const turn = handshake.turns.next("rest");
      if (turn !== null) await turn;
      beginNext();
    }
    onBegun();
  }

  function beginNext(): void {
    const data = inbox.shift();
    if (data !== undefined && !isEnding) onMessage(data);
    if (isClosed) turns.leave();
  }

  function onMessage(data: Data): void {
    const call = calls.next();
    const entered = calls.admit(call);
    const refusedKey = call.client.key === null ? calls.refuseKey(call) : null;
    keyRefusals = refusedKey === null ? 0 : keyRefusals + 1;
    if (refusedKey !== null && keyRefusals >= MAX_KEY_REFUSALS) {
      turns.refuse(call, findStreamId(data), refusedKey);
      return end(POLICY_VIOLATION_CODE, "the client key of this socket is refused");
    }
    if (entered instanceof Promise) return addEntering(call, data, entered);
    const refusal = entered ?? takeMessage(call, data);
    const turn = refusal === null ? nextTurn(call, sizeOf(data)) : null;
    if (turn === null) return turns.add(call, admitted(call, data, refusal));
    turns.add(call, waiting(data, turn.then(() => admitted(call, data, null))));
  }

  /** Queues a message that waits for the decision of a shared store. */
  function addEntering(call: Call, data: Data, entered: Promise<Failed | null>): void {
    // Its memory counts from its arrival. One for which there is none is not kept until the store
    // answers.
    const placed = takeMessage(call, data, false);
    if (placed !== null) {
      const streamId = findStreamId(data);
      return turns.add(call, {
        chars: 0,
        streamId: () => streamId,
        message: entered.then((refusal) => ({ streamId, turn: refusal ?? placed })),
      });
    }
    turns.add(
      call,
      waiting(
        data,
        entered.then(async (refusal) => {
          if (refusal === null) await nextTurn(call, sizeOf(data));
          return admitted(call, data, refusal);
        }),
      ),
    );
  }

  function waiting(data: Data, message: Promise<Message>): EnteringMessage {
    const chars = sizeOf(data);
    return { chars, streamId: isLarge(chars) ? null : () => findStreamId(data), message };
  }

  function giveUp(reason: GiveUpReason): void {
    isFlood ||= reason === "flood";
    end(...GIVE_UPS[reason]);
    // The runtime would take more fragments until the client closes its side.
    abort();
  }

  function dropUnread(): void {
    end(POLICY_VIOLATION_CODE, "the client does not read its messages");
  }

  function holdUnread(bytes: number): void {
    admission.holdDroppable(`unread ${id}`, bytes, dropUnread);
  }

  /** Returns a message that is refused, or parsed. One that is no request gives its place back. */
  function admitted(call: Call, data: Data, refusal: Failed | null): Message {
    if (refusal !== null) return { streamId: findStreamId(data), turn: refusal };
    // A token is admitted with the template of the moment, whose privacy rules may be others.
    key = call.client.key ?? key;
    // Nothing of it is sent any more.
    if (isEnding || isChanged()) return { streamId: null, turn: clientGone() };
    const message = parseMessage(call, textOf(data));
    if (!message.turn.ok) admission.release(call.id);
    return message;
  }

  /**
   * Returns the `stream_id` of a refused message; null if it has none, or is too long to look for
   * it.
   */
  function findStreamId(data: Data): string | null {
    return isLarge(sizeOf(data)) ? null : session.findStreamId(textOf(data));
  }

  function parseMessage(call: Call, text: string): Message {
    try {
      return session.parseMessage(text, (bytes) => holdBody(call, bytes));
    } catch (error) {
      return { streamId: null, turn: internalError(call, error) };
    }
  }

  /** Ends the connection; on shutdown the client may still read what it has been sent. */
  function endConnection(code: number): void {
    if (code === GOING_AWAY_CODE) peer.disconnect?.();
    else abort();
  }

  function endIfChanged(): void {
    if (isChanged()) end(RESTART_CODE, CHANGED_REASON);
  }

  /** True if the privacy rules of the connection are others in the current configuration. */
  function isChanged(): boolean {
    const { privacy } = handshake.client;
    const { generation } = gateway;
    const current = policyOf({ generation, client: { key: currentKey(generation, key) } });
    return current?.digest !== privacy?.policy.digest;
  }

  function leaveWhenIdle(): void {
    turns.close();
    // What has arrived is refused before.
    if (turns.isIdle && inbox.length === 0) end(GOING_AWAY_CODE, ENDING);
  }

  function end(code: number, reason: string): void {
    if (isEnding) return;
    isEnding = true;
    turns.leave();
    socket.close(code, reason);
    world.after(CLOSE_TIMEOUT_MS, () => {
      // A client that does not close its side could send fragments that count nowhere.
      if (socket.readyState !== WebSocket.CLOSED) endConnection(code);
      onClosed();
    });
  }
}
