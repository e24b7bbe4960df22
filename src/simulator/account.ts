import type { JsonObject } from "../core/json/json.ts";
import { type BoundedMap, jsonLength, newBoundedMap } from "./bounded_map.ts";
import type { Deps } from "./protocol.ts";
import { hashText } from "./hash.ts";

const MAX_ACCOUNTS = 32;
const STORE_LIMITS = { maxValues: 1000, maxCharacters: 16 * 1024 * 1024 } as const;

/** A response that can be asked for again. */
export interface StoredResponse {
  /** As it is in the end. */
  readonly resource: JsonObject;
  /** The events of its stream, in order, numbered. */
  readonly events: readonly JsonObject[];
  /** Everything it was answered to, in the form in which items are listed. */
  readonly inputItems: readonly JsonObject[];
  /** Those of its own request. */
  readonly newItems: readonly JsonObject[];
  readonly phase: "queued" | "in_progress" | "ended" | "cancelled";
}

/** A conversation and its items, in order. */
export interface StoredConversation {
  readonly resource: JsonObject;
  readonly items: readonly JsonObject[];
}

/** A chat completion that was created to be stored. */
export interface StoredCompletion {
  readonly resource: JsonObject;
  /** The messages of its request, in the form in which they are listed. */
  readonly messages: readonly JsonObject[];
}

/** What one bearer key owns. No other account sees any of it. */
export interface Account {
  readonly responses: BoundedMap<StoredResponse>;
  readonly conversations: BoundedMap<StoredConversation>;
  readonly completions: BoundedMap<StoredCompletion>;
  /**
   * Begins an answer. Each deps that the result makes stands at the same second and gives the same
   * ids in the same order: they follow from the account and from how many answers it had before.
   */
  newAnswerDeps(): () => Deps;
  /** An opaque text that only this account gives for this text. */
  seal(text: string): string;
}

/** Finds the account of a request. The one that came first is forgotten when there are too many. */
export function newAccounts(deps: Deps): (request: Request) => Account {
  const accounts = newBoundedMap<Account>(
    { maxValues: MAX_ACCOUNTS, maxCharacters: MAX_ACCOUNTS },
    () => 1,
  );
  return (request) => {
    const key = request.headers.get("authorization") ?? "";
    const account = accounts.get(key) ?? newAccount(key, deps);
    accounts.set(key, account);
    return account;
  };
}

function newAccount(key: string, deps: Deps): Account {
  let answers = 0;
  return {
    responses: newBoundedMap(
      STORE_LIMITS,
      ({ resource, events, inputItems }) =>
        jsonLength(resource) + jsonLength([...events]) + jsonLength([...inputItems]),
    ),
    conversations: newBoundedMap(
      STORE_LIMITS,
      ({ resource, items }) => jsonLength(resource) + jsonLength([...items]),
    ),
    completions: newBoundedMap(
      STORE_LIMITS,
      ({ resource, messages }) => jsonLength(resource) + jsonLength([...messages]),
    ),
    newAnswerDeps() {
      const answer = ++answers;
      const now = deps.unix();
      return () => {
        let ids = 0;
        return {
          unix: () => now,
          uuid: () => hexDigits(`${++ids}:${answer}:${key}`),
          after: (ms, task) => deps.after(ms, task),
        };
      };
    },
    seal: (text) => btoa(`sim.${hexDigits(`${key}:${text}`)}`),
  };
}

/** 32 hexadecimal digits that follow from a text. */
function hexDigits(text: string): string {
  return [0, 1, 2, 3]
    .map((part) => hashText(`${part}:${text}:${part}`).toString(16).padStart(8, "0")).join("");
}
