import type { Awaitable, Failed } from "../../core/failure/result.ts";
import { type Call, newCallClient, parseControls } from "../../call/call.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { newReport } from "../../observe/report.ts";
import { stateForCall } from "../../store/call_state.ts";
import { admitTurn } from "../admission/admit.ts";
import { authenticate } from "../admission/auth.ts";
import type { Peer } from "../../runtime/peer.ts";

/** Creates the calls of one socket, one for each message. */
export type TurnCalls = ReturnType<typeof newTurnCalls>;

/** Header of the handshake that is not copied to turns, because the key identifies one request. */
const IDEMPOTENCY_KEY = "idempotency-key";

const SESSION_HEADER = "x-gateway-sessionid";

/**
 * Returns a factory of calls with the headers and the configuration of the handshake. A session
 * without a name gets a generated name, which is sent with every upstream request.
 */
export function newTurnCalls(gateway: Gateway, handshake: Call, peer: Peer) {
  const { world, state, metrics } = gateway;
  const { path, report: { endpoint, traceparent } } = handshake;
  // The raw value: decoded from UTF-8 it may have characters that are not allowed in a header.
  const session = handshake.headers.get(SESSION_HEADER) || `wsresp_${world.uuid()}`;
  const headers = new Headers([...handshake.headers].filter(([name]) => name !== IDEMPOTENCY_KEY));
  headers.set(SESSION_HEADER, session);
  const controls = parseControls(headers);

  return {
    /** Name of the session, from the client or from the gateway. */
    session: controls.session,
    next(): Call {
      const id = world.uuid();
      const report = newReport(id, handshake.method, path, world.now());
      report.endpoint = endpoint;
      report.traceparent = traceparent;
      report.session = controls.session;
      // Every response to a turn is a series of events.
      report.stream = true;
      metrics.began(endpoint.path);
      gateway.began?.(report);
      const cancellation = state.inFlight.start(id);
      return {
        ...handshake,
        id,
        state: stateForCall(state, { cancellation, report, refuseRead: () => null }),
        headers,
        controls,
        cancellation,
        report,
        caller: { name: null, isIsolated: false },
        client: newCallClient(),
        upstreamHeaders: { [SESSION_HEADER]: session },
        capture: gateway.newCapture(handshake.generation.config, id, state.admission),
        responseHeaders: {},
      };
    },
    /**
     * Returns the refusal of a call whose key is not valid any more or exceeds its rate limit; null
     * if it may run. It is a promise if the rates are in a shared store.
     */
    admit: (call: Call): Awaitable<Failed | null> => admitTurn(call, gateway.generation, peer),
    /**
     * Returns the refusal of a call's key by the current configuration; null if the key is valid.
     */
    refuseKey(call: Call): Failed | null {
      const key = authenticate({ ...call, generation: gateway.generation });
      return key.ok ? null : key;
    },
  };
}
