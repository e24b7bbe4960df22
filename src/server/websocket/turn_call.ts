import { clientTurns } from "../../call/call_turns.ts";
import { statusOf } from "../../core/failure/failure.ts";
import type { Awaitable, Failed } from "../../core/failure/result.ts";
import { type Call, newCallClient } from "../../call/call.ts";
import { type Session, SESSION_HEADER } from "../../core/session.ts";
import { startPrivacy } from "../../redaction/request.ts";
import { setSession } from "../../call/session.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { newReport } from "../../observe/report.ts";
import { stateForCall } from "../../store/call_state.ts";
import { admitTurn, clientOver } from "../admission/admit.ts";
import { authenticate } from "../admission/auth.ts";
import type { Peer } from "../../runtime/peer.ts";

/** Creates the calls of one socket, one for each message. */
export type TurnCalls = ReturnType<typeof newTurnCalls>;

/** Header of the handshake that is not copied to turns, because the key identifies one request. */
const IDEMPOTENCY_KEY = "idempotency-key";

/**
 * Returns a factory of calls with the headers and the configuration of the handshake. Without
 * `X-Gateway-SessionID` a generated name is sent with every upstream request, and is the session of
 * a connection whose handshake names none.
 */
export function newTurnCalls(gateway: Gateway, handshake: Call, peer: Peer) {
  const { world, state, metrics } = gateway;
  const { path, report: { endpoint, traceparent, span } } = handshake;
  // The raw value: decoded from UTF-8 it may have characters that are not allowed in a header.
  const name = handshake.headers.get(SESSION_HEADER) || `wsresp_${world.uuid()}`;
  const headers = new Headers([...handshake.headers].filter(([name]) => name !== IDEMPOTENCY_KEY));
  headers.set(SESSION_HEADER, name);
  const clientOf = clientOver(peer);
  const session: Session = handshake.client.session ?? { name, from: "connection" };
  if (handshake.client.session === null) setSession(handshake, session);

  return {
    next(): Call {
      const id = world.uuid();
      const report = newReport(id, handshake.method, path, world.now());
      report.endpoint = endpoint;
      report.traceparent = traceparent;
      report.handshake = span;
      // Every response to a turn is a series of events.
      report.stream = true;
      metrics.began(endpoint.path);
      const cancellation = state.inFlight.start(id);
      const client = () => clientOf(call);
      const call: Call = {
        ...handshake,
        id,
        state: stateForCall(state, {
          cancellation,
          report,
          client,
          refuseRead: () => null,
        }),
        clientOf: client,
        turns: clientTurns(state.turns, client),
        headers,
        cancellation,
        report,
        caller: { name: null, isIsolated: false },
        client: newCallClient(),
        upstreamHeaders: { [SESSION_HEADER]: name },
        capture: null,
        planned: gateway.planned,
        bodyBytes: 0,
        bodyHasEnded: false,
        responseHeaders: {},
      };
      // What may be captured is for the current configuration to say, however old the socket is.
      call.capture = gateway.newCapture({ ...call, generation: gateway.generation });
      setSession(call, session);
      startPrivacy(call, handshake.client.privacy?.policy ?? null);
      gateway.began?.(report, headers);
      return call;
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
      // The admission has counted the token.
      const uncounted = { ...metrics, tokenChecked() {} };
      const key = authenticate({ ...call, generation: gateway.generation, metrics: uncounted });
      // One that is verified first is not refused yet, and one that cannot be verified now neither.
      return key instanceof Promise || key.ok || statusOf(key.failure) === 503 ? null : key;
    },
  };
}
