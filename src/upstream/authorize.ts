import { createHash } from "node:crypto";
import { failed, fault, type Result, success } from "../core/failure/result.ts";
import type { Failure } from "../core/failure/failure.ts";
import type { AwsKeys, CredentialHolder } from "../core/credential.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import type { Incoming, World } from "../core/world.ts";
import type { Call } from "../call/call.ts";
import type { LoopTurns } from "../traffic/loop_turns.ts";
import type { Sender, UpstreamRequest } from "../wires/wire.ts";
import { signatureHeaders } from "./sign.ts";

/** Bytes of a body that are hashed in one turn: 1 MiB takes a few milliseconds. */
const HASHED_BYTES = 1024 * 1024;

/** A request as it is sent, but for its credential. */
export interface UnauthorizedRequest {
  readonly request: Pick<UpstreamRequest, "method" | "payload">;
  readonly url: string;
  readonly headers: HeaderFields;
}

/** Dependencies of a signature. */
interface Process {
  readonly world: Pick<World, "wall">;
  readonly turns: LoopTurns;
}

/** Returns the failure of a request to a provider whose credential cannot be used. */
export function credentialUnavailable(holder: CredentialHolder, wallMs: number): Failure {
  const { nextMs } = holder.latest();
  const { failure } = fault(
    "credential_unavailable",
    "The gateway has no usable credential for the provider; send the request again later.",
    {
      mayHaveRun: false,
      // The time of a refresh that runs has passed; the first one has none.
      retryAfterMs: Math.max(1_000, (nextMs ?? 0) - wallMs),
    },
  );
  return failure;
}

/**
 * Returns the headers of a request with those of the credential that is refreshed, or the failure
 * if it cannot be used now. For AWS this signs the request, with the time of now.
 */
export async function authorized(
  { account }: Sender,
  { request, url, headers }: UnauthorizedRequest,
  { world, turns }: Process,
): Promise<Result<HeaderFields>> {
  if (account.credential === null) return success(headers);
  const { holder, settings } = account.credential;
  const wallMs = world.wall();
  const issued = holder.usable(wallMs);
  if (issued === null) return failed(credentialUnavailable(holder, wallMs));
  const { secret } = issued;
  if (secret.kind === "token") {
    const { header = "authorization", prefix = "Bearer" } = settings;
    const value = prefix === "" ? secret.token : `${prefix} ${secret.token}`;
    return success({ ...headers, [header.toLowerCase()]: value });
  }
  const { region = "", service = "" } = settings;
  return success({
    ...headers,
    ...await signed(secret, { region, service }),
  });

  async function signed(keys: AwsKeys, scope: { region: string; service: string }) {
    return signatureHeaders(keys, scope, {
      method: request.method,
      url,
      contentType: headers["content-type"] ?? null,
      bodyDigest: await bodyDigest(request.payload?.bytes() ?? "", turns),
      wallMs: world.wall() + holder.clockAheadMs,
    });
  }
}

/** Difference of the clocks from which AWS refuses a signature. */
const MAX_SKEW_MS = 5 * 60_000;

/** Time from which a signature cannot be dated: its year has four digits. */
const END_OF_DATES_MS = Date.UTC(9999, 0);

/**
 * Takes over the clock of a provider that refuses a signature, and whose `Date` is far from the
 * time of it: the next request is signed by that clock.
 */
export function learnClock(
  { world, report }: Pick<Call, "world" | "report">,
  { account }: Sender,
  { status, headers }: Pick<Incoming, "status" | "headers">,
): void {
  const holder = account.credential?.holder;
  if (status !== 403 || holder?.issued()?.secret.kind !== "aws") return;
  const dateMs = Date.parse(headers.get("date") ?? "");
  const aheadMs = dateMs - world.wall();
  const isFar = Math.abs(aheadMs - holder.clockAheadMs) >= MAX_SKEW_MS;
  if (isFar && dateMs >= 0 && dateMs < END_OF_DATES_MS) {
    report.clockAheadMs = holder.clockAheadMs = aheadMs;
  }
}

/** Returns the SHA-256 of a body. A large one is hashed in several turns of the event loop. */
async function bodyDigest(
  body: string | Uint8Array | readonly Uint8Array[],
  turns: LoopTurns,
): Promise<string> {
  const hash = createHash("sha256");
  if (typeof body === "string") return hash.update(body).digest("hex");
  let inTurn = 0;
  // An upload has many small pieces.
  for (const piece of body instanceof Uint8Array ? [body] : body) {
    for (let at = 0; at < piece.length; at += HASHED_BYTES) {
      const slice = piece.subarray(at, at + HASHED_BYTES);
      if (inTurn + slice.length > HASHED_BYTES) {
        await turns.next("rest");
        inTurn = 0;
      }
      inTurn += slice.length;
      hash.update(slice);
    }
  }
  return hash.digest("hex");
}
