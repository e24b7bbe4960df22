import type { PrivacyCounts, RuleCount } from "../core/privacy_counts.ts";
import type { Span } from "../formats/edit.ts";
import type { Move } from "./moves.ts";

/** Facts of a finder of the values of one kind. Its time grows with the text and no faster. */
interface FinderFacts {
  /** Label in masks and tokens: 2 to 12 letters from a to z. */
  readonly label: string;
  /** The longest match in UTF-16 code units. */
  readonly maxChars: number;
  /** True if what it looks for may begin before a match. */
  readonly findsParts?: boolean;
  /**
   * Returns where the end of an unfinished text begins that could become a match, or a longer one,
   * when more text follows; the length of the text if there is none. At most `maxChars` from its
   * end.
   */
  heldFrom(text: string): number;
  /**
   * Returns the finder for one text of a stream, if what it finds depends on the rest of the text:
   * each call has the next piece behind what is held. A match waits until it is decided, within
   * bounds beyond which it counts, so it may be held from further than `maxChars`.
   */
  inStream?(rule: Pick<Rule, "action" | "except">): Finder;
}

/** A finder that looks at the surroundings of a match only. */
export interface LocalFinder extends FinderFacts {
  /**
   * Calls `found` for each match that begins with what the finder looks for between `from` and
   * `to`; a match may reach beyond both. One piece of a text after the other finds what the whole
   * text has.
   */
  find(text: string, from: number, to: number, found: (start: number, end: number) => void): void;
}

/** A finder that goes through the whole text by itself. */
export interface TextFinder extends FinderFacts {
  /** Begins the search of a text for matches that begin at `from` or later. */
  search(text: string, from: number): Steps;
}

/** Finds the values of one kind in a text. */
export type Finder = LocalFinder | TextFinder;

/** Takes the next short step of a finder through a text; null at its end. */
export type Steps = () => SearchStep | null;

interface SearchStep {
  /** Place before which no later match begins. */
  readonly searched: number;
  /** The match that the step has found; null for none. */
  readonly match: Span | null;
}

/** One compiled rule of the configuration. */
export interface Rule {
  readonly name: string;
  /** Position in the file: of two equal matches the rule with the lower one wins. */
  readonly order: number;
  readonly phase: RuleCount["phase"];
  /** Treatment of a match. */
  readonly action: RuleCount["action"];
  readonly finders: readonly Finder[];
  /** Values that are no match although a finder finds them. */
  readonly except: ReadonlySet<string>;
}

/** A match of a rule in a text. */
export interface Match extends Span {
  readonly rule: Rule;
  readonly label: string;
  /** True in a text in which values were found without the escapes of JSON that they have there. */
  readonly isEscaped?: true;
}

/** Rules that hold for a call: the sum of its policies. */
export interface Policy {
  /** Names of the policies, in the order of the file. */
  readonly names: readonly string[];
  /** Rules of the request, and rules of the response, each in the order of the file. */
  readonly request: readonly Rule[];
  readonly response: readonly Rule[];
  readonly refusesUnread: boolean;
  /** Digest of the rules and of the secret of tokens: a part of the keys of cached responses. */
  readonly digest: string;
}

/** A value of the request and the word that the provider receives in its place. */
export interface TokenValue {
  /** The 18 letters of the token that name the value, in lower case. */
  readonly core: string;
  /** The letters behind the core: the kind of value. */
  readonly label: string;
  /** The text exactly as the client has written it. */
  readonly value: string;
}

/** The tokens of one call. */
export interface TokenMap {
  readonly size: number;
  /** Returns the value of a core in lower case; undefined if the call has no such token. */
  get(core: string): TokenValue | undefined;
  /** Returns all tokens in the order in which their values were found. */
  values(): Iterable<TokenValue>;
}

/** The tokens of one call, which grow with the values that it replaces. */
export interface Tokens extends TokenMap {
  /**
   * Returns the token of a value, a new one for a value that the call has not had before. `scope`
   * is what all the calls share in which the value has the same token; `known` is the token that an
   * earlier call gave it, and that its provider still has. Null if the call has as many values as
   * it may.
   */
  take(value: string, label: string, scope: string, known?: TokenValue): TokenValue | null;
}

/** How the texts of an answer are written, as far as its JSON does not say it. */
export interface AnswerForm {
  /** True if the request demands JSON as the text of the answer. */
  isJsonText: boolean;
  /** Places of the objects in a list whose requests have demanded it; absent for no list. */
  jsonObjects?: ReadonlySet<number>;
  /** True if the thinking comes from the provider as it is, which has signed it. */
  isThinkingSigned: boolean;
  /** Number of the last event of the stream that the client has had; absent for none. */
  startsAfter?: number;
  /**
   * How positions in the documents that the provider has received lead back to those of the client,
   * by their number in the request; absent if nothing in them was replaced.
   */
  documents?: ReadonlyMap<number, readonly Move[]>;
  /**
   * Texts of the request, with tokens, of which it does not show whether the client has escaped the
   * values in them as JSON does; true if so. Absent for none.
   */
  jsonTexts?: Map<string, boolean>;
}

/** Privacy state of a call whose client has a policy. */
export interface CallPrivacy {
  readonly policy: Policy;
  /** Tokens of the values that the call has replaced so far. */
  readonly tokens: Tokens;
  /** Scopes of the tokens of the call; null until the call knows its conversation. */
  scopes: Scopes | null;
  readonly counts: PrivacyCounts;
  /** Tokens of earlier calls, by core, whose stored objects the call reads or continues. */
  readonly earlier: Map<string, TokenValue>;
  /** ID of the conversation that the request continues; null for none. */
  conversation: string | null;
  /**
   * Paths that the answer keeps only in part if what the request continues has tokens, as the API
   * writes them.
   */
  lossyWithTokens: string[];
  /** How the texts of the answer are written. */
  readonly answer: AnswerForm;
  /** Each returns the characters that a search of the answer holds back. */
  readonly held: (() => number)[];
  /** Called with characters by which a stream grows, so that what is held is measured again. */
  grown(chars: number): void;
}

/** State shared by the calls in which a value has the same token. */
export interface Scopes {
  /** For values in system texts, instructions and tools: the client, over all its conversations. */
  readonly client: string;
  /** For all other values: one conversation of the client. */
  readonly conversation: string;
}
