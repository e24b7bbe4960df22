import type { JsonValue } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import { newBoundedMap } from "./bounded_map.ts";
import { hashText } from "./hash.ts";

/** The least number of input tokens that an upstream caches. */
export const MIN_CACHED_TOKENS = 1_024;

/** Seconds after its last use for which a prefix is cached. */
const TTL_S = 300;

/** Number of blocks before a breakpoint in which a written prefix is looked for. */
const MAX_BLOCKS_BACK = 20;

const LIMITS = { maxValues: 10_000, maxCharacters: 10_000 } as const;

/** One tool, block or message of a request, in the order in which the model reads them. */
export interface CacheBlock {
  /** Everything that must be equal in another request. */
  readonly text: string;
  readonly tokens: number;
  /** The prefix up to this block is written. */
  readonly isWritten: boolean;
}

/** Input tokens that the cache had, and that were added to it. */
export interface CacheUse {
  readonly read: number;
  readonly write: number;
}

/** The use of a cache by a request of which nothing is cached. */
export const NO_CACHE_USE: CacheUse = { read: 0, write: 0 };

/** The prefixes that one account has cached. */
export interface PromptCache {
  /** Reads the longest cached prefix of a request and adds its written ones. */
  use(blocks: readonly CacheBlock[], inputTokens: number): CacheUse;
}

/** Returns an empty cache. */
export function newPromptCache({ unix }: Pick<World, "unix">): PromptCache {
  const usedAt = newBoundedMap<number>(LIMITS, () => 1);

  function isCached(digest: string): boolean {
    return unix() - (usedAt.get(digest) ?? -Infinity) <= TTL_S;
  }

  return {
    use(blocks, inputTokens) {
      const prefixes = prefixesOf(blocks).filter(({ tokens }) => tokens >= MIN_CACHED_TOKENS);
      const isNear = (at: number) =>
        prefixes.slice(at, at + MAX_BLOCKS_BACK + 1).some(({ isWritten }) => isWritten);
      const found = prefixes.findLast(({ digest }, at) => isNear(at) && isCached(digest));
      const written = prefixes.filter(({ isWritten }) => isWritten);
      for (const { digest } of found === undefined ? written : [found, ...written]) {
        usedAt.delete(digest);
        usedAt.set(digest, unix());
      }
      const read = Math.min(found?.tokens ?? 0, inputTokens);
      const end = Math.min(written.at(-1)?.tokens ?? 0, inputTokens);
      return { read, write: Math.max(0, end - read) };
    },
  };
}

interface Prefix extends Pick<CacheBlock, "tokens" | "isWritten"> {
  readonly digest: string;
}

function prefixesOf(blocks: readonly CacheBlock[]): readonly Prefix[] {
  let hash = 0;
  let tokens = 0;
  return blocks.map((block) => {
    hash = hashText(`${hash}:${block.text}`);
    tokens += block.tokens;
    return { digest: `${hash}:${tokens}`, tokens, isWritten: block.isWritten };
  });
}

/** Returns a value as text without the breakpoints in it. */
export function cachedText(value: JsonValue): string {
  return JSON.stringify(value, (key, member) => key === "cache_control" ? undefined : member);
}
