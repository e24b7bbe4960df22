import type { Failed } from "../../core/result.ts";
import { type Call, parseControls } from "../../call/call.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { newReport } from "../../observe/report.ts";
import { admitTurn } from "../admission/admission.ts";
import type { Peer } from "../peer.ts";

/** Makes the calls of one socket, a new one for each message. */
export interface TurnCalls {
  /** What the session is called, by the client or by the gateway. */
  readonly session: string | null;
  next(): Call;
  /** Why a call may not be made: its key is good no more, or it comes too soon; null when it may. */
  admit(call: Call): Failed | null;
}

/** A key for one request that is good for no other. */
const IDEMPOTENCY_KEY = "idempotency-key";

const SESSION_HEADER = "x-gateway-sessionid";

/**
 * Calls with the headers and the configuration of the handshake. A session without a name gets one,
 * and every upstream request tells it.
 */
export function newTurnCalls(gateway: Gateway, handshake: Call, peer: Peer): TurnCalls {
  const { world, state, metrics } = gateway;
  const { path, report: { endpoint, traceparent } } = handshake;
  // As it was sent: what it says in UTF-8 may hold characters that no header can.
  const session = handshake.headers.get(SESSION_HEADER) || `wsresp_${world.uuid()}`;
  const headers = new Headers([...handshake.headers].filter(([name]) => name !== IDEMPOTENCY_KEY));
  headers.set(SESSION_HEADER, session);
  const controls = parseControls(headers);

  return {
    session: controls.session,
    next() {
      const id = world.uuid();
      const report = newReport(id, handshake.method, path, world.now());
      report.endpoint = endpoint;
      report.traceparent = traceparent;
      report.session = controls.session;
      // Whatever answers a turn comes as events.
      report.stream = true;
      metrics.began(endpoint.path);
      return {
        ...handshake,
        id,
        headers,
        controls,
        cancellation: state.inFlight.start(id),
        report,
        caller: { name: null, isIsolated: false },
        upstreamHeaders: { [SESSION_HEADER]: session },
        capture: gateway.newCapture(handshake.generation.config),
        answerHeaders: {},
      };
    },
    admit: (call) => admitTurn(call, gateway.generation, peer),
  };
}
