import type { Config } from "../../src/config/schema.ts";
import { configOf } from "../config/parse.ts";

/** Configurations by their texts. */
const parsed = new Map<string, Config>();

/**
 * Returns the configuration of a text; throws if it has problems. A text is parsed once in a test
 * file, because many tests have the same one. No gateway can change the configuration for the next,
 * because it is frozen.
 */
export function parsedConfig(text: string): Config {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const config = configOf(text);
  parsed.set(text, config);
  return config;
}
