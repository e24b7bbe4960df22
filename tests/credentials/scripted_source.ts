import type { IssuedCredential } from "../../src/core/credential.ts";
import { newCredentialHolder } from "../../src/core/credential.ts";
import { type RefresherDeps, startRefresher } from "../../src/credentials/refresher.ts";
import type { Fetched } from "../../src/credentials/source.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** Returns a token that ends at this Unix time in milliseconds; null if it does not end. */
export function token(text: string, expiresMs: number | null): IssuedCredential {
  return { secret: { kind: "token", token: text }, expiresMs };
}

/** One hour in milliseconds. */
export const HOUR_MS = 3_600_000;

/** Starts a refresher of a source that answers as `answer` says, with the number of the fetch. */
export function refreshing(
  answer: (fetch: number, world: ScriptedWorld) => Fetched | Promise<Fetched>,
  { everyMs = null, beforeMs = null, random = [] }: {
    readonly everyMs?: number | null;
    readonly beforeMs?: RefresherDeps["beforeMs"];
    readonly random?: readonly number[];
  } = {},
) {
  const world = scriptedWorld({ random });
  const holder = newCredentialHolder("c");
  const fetches: number[] = [];
  const results: (string | null)[] = [];
  const refresher = startRefresher({
    world,
    holder,
    source: {
      everyMs,
      fetch: () => Promise.resolve(answer(fetches.push(world.now()), world)),
    },
    beforeMs,
    refreshed: (reason) => void results.push(reason),
    updated() {},
  });
  return {
    world,
    holder,
    refresher,
    /** Times of the fetches, in milliseconds. */
    fetches,
    /** Null for each refresh that succeeded, else its reason. */
    results,
    state: () => holder.state(world.wall()),
    text() {
      const secret = holder.usable(world.wall())?.secret;
      return secret?.kind === "token" ? secret.token : null;
    },
  };
}

/** Returns a fetch that succeeds with a token for so long. */
export function issues(text: string, world: ScriptedWorld, lifetimeMs: number): Fetched {
  return { ok: true, issued: token(text, world.wall() + lifetimeMs) };
}

/** A fetch that fails. */
export const FAILS: Fetched = { ok: false, reason: "it failed" };
