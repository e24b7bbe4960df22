import type { JsonObject } from "../core/json/json.ts";
import { type BoundedMap, jsonLength, newBoundedMap } from "./bounded_map.ts";
import type { Deps } from "./protocol.ts";
import { hashText } from "./hash.ts";
import { newPromptCache, type PromptCache } from "./prompt_cache.ts";

const MAX_ACCOUNTS = 32;
const STORE_LIMITS = { maxValues: 1000, maxCharacters: 16 * 1024 * 1024 } as const;

/** A response that the account can retrieve, cancel, delete and continue. */
export interface StoredResponse {
  /** The response resource in its final state. */
  readonly resource: JsonObject;
  /** The numbered events of its stream, in order. */
  readonly events: readonly JsonObject[];
  /** The whole input, with the history it continued, as listed items. */
  readonly inputItems: readonly JsonObject[];
  /** The input items of its request, without the history. */
  readonly newItems: readonly JsonObject[];
  readonly phase: "queued" | "in_progress" | "ended" | "cancelled";
}

/** A stored conversation with its items, in order. */
export interface StoredConversation {
  readonly resource: JsonObject;
  readonly items: readonly JsonObject[];
}

/** A chat completion that was created with `store: true`. */
export interface StoredCompletion {
  readonly resource: JsonObject;
  /** The request's messages, as the messages endpoint lists them. */
  readonly messages: readonly JsonObject[];
}

/** A file with its bytes, or a batch or an upload with the bytes that it has so far. */
export interface StoredFile {
  readonly resource: JsonObject;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** The objects and the cached prompts of one key. No other account can read them. */
export interface Account {
  readonly responses: BoundedMap<StoredResponse>;
  readonly conversations: BoundedMap<StoredConversation>;
  readonly completions: BoundedMap<StoredCompletion>;
  readonly files: BoundedMap<StoredFile>;
  readonly batches: BoundedMap<StoredFile>;
  readonly uploads: BoundedMap<StoredFile>;
  readonly promptCache: PromptCache;
  /**
   * Starts an answer and returns a factory of its dependencies. Each call of the factory gives the
   * same clock second and the same series of ids, derived from the account and the number of its
   * earlier answers.
   */
  newAnswerDeps(): () => Deps;
  /** Returns an opaque text for `text` that no other account would return for it. */
  seal(text: string): string;
}

/**
 * Returns a function that finds or creates the account of a request. The oldest account is dropped
 * when there are more than `MAX_ACCOUNTS`.
 */
export function newAccounts(deps: Deps): (request: Request) => Account {
  const accounts = newBoundedMap<Account>(
    { maxValues: MAX_ACCOUNTS, maxCharacters: MAX_ACCOUNTS },
    () => 1,
  );
  return (request) => {
    const { headers } = request;
    const key = headers.get("authorization") ?? headers.get("x-api-key") ?? "";
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
    files: newFiles(),
    batches: newFiles(),
    uploads: newFiles(),
    promptCache: newPromptCache(deps),
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

/** Characters and bytes of the files, batches or uploads of one account. */
const FILE_LIMITS = { maxValues: 1000, maxCharacters: 128 * 1024 * 1024 } as const;

function newFiles(): BoundedMap<StoredFile> {
  return newBoundedMap(
    FILE_LIMITS,
    ({ resource, content }) => jsonLength(resource) + content.length,
  );
}

/** Derives 32 hexadecimal digits from a text. */
function hexDigits(text: string): string {
  return [0, 1, 2, 3]
    .map((part) => hashText(`${part}:${text}:${part}`).toString(16).padStart(8, "0")).join("");
}
