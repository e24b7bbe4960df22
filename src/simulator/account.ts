import type { JsonObject } from "../core/json.ts";
import { charactersOf, newShelf, type Shelf } from "./shelf.ts";
import type { Stage } from "./voice.ts";
import { hashOf } from "./words.ts";

const MOST_ACCOUNTS = 32;
const MOST = { values: 1000, characters: 16 * 1024 * 1024 } as const;

/** A response that can be asked for again. */
export interface KeptResponse {
  /** As it is in the end. */
  readonly resource: JsonObject;
  /** The events of its stream, in order, numbered. */
  readonly events: readonly JsonObject[];
  /** Everything it was answered to, in the form in which items are listed. */
  readonly input: readonly JsonObject[];
  /** Those of its own request. */
  readonly fresh: readonly JsonObject[];
  readonly stage: "queued" | "in_progress" | "ended" | "cancelled";
}

/** A conversation and its items, in order. */
export interface KeptConversation {
  readonly resource: JsonObject;
  readonly items: readonly JsonObject[];
}

/** A chat completion that was created to be stored. */
export interface KeptCompletion {
  readonly resource: JsonObject;
  /** The messages of its request, in the form in which they are listed. */
  readonly messages: readonly JsonObject[];
}

/** What one bearer key owns. No other account sees any of it. */
export interface Account {
  readonly responses: Shelf<KeptResponse>;
  readonly conversations: Shelf<KeptConversation>;
  readonly completions: Shelf<KeptCompletion>;
  /**
   * Begins an answer. Each stage that the result makes stands at the same second and gives the same
   * ids in the same order: they follow from the account and from how many answers it had before.
   */
  begin(): () => Stage;
  /** An opaque text that only this account gives for this text. */
  seal(text: string): string;
}

/** Finds the account of a request. The one that came first is forgotten when there are too many. */
export function newAccounts(stage: Stage): (request: Request) => Account {
  const accounts = newShelf<Account>({ values: MOST_ACCOUNTS, characters: MOST_ACCOUNTS }, () => 1);
  return (request) => {
    const key = request.headers.get("authorization") ?? "";
    const account = accounts.get(key) ?? newAccount(key, stage);
    accounts.put(key, account);
    return account;
  };
}

function newAccount(key: string, stage: Stage): Account {
  let answers = 0;
  return {
    responses: newShelf(
      MOST,
      ({ resource, events, input }) =>
        charactersOf(resource) + charactersOf([...events]) + charactersOf([...input]),
    ),
    conversations: newShelf(
      MOST,
      ({ resource, items }) => charactersOf(resource) + charactersOf([...items]),
    ),
    completions: newShelf(
      MOST,
      ({ resource, messages }) => charactersOf(resource) + charactersOf([...messages]),
    ),
    begin() {
      const answer = ++answers;
      const now = stage.unix();
      return () => {
        let ids = 0;
        return {
          unix: () => now,
          uuid: () => digitsOf(`${++ids}:${answer}:${key}`),
          after: (ms, task) => stage.after(ms, task),
        };
      };
    },
    seal: (text) => btoa(`sim.${digitsOf(`${key}:${text}`)}`),
  };
}

/** 32 hexadecimal digits that follow from a text. */
function digitsOf(text: string): string {
  return [0, 1, 2, 3]
    .map((part) => hashOf(`${part}:${text}:${part}`).toString(16).padStart(8, "0")).join("");
}
