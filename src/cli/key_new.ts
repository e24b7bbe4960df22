import { createHash } from "node:crypto";
import { yamlText } from "../config/yaml_text.ts";
import { optionValue } from "./arguments.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";

const NAME = "NAME";

/** Prefix of generated secrets, by which scanners of leaked secrets can find them. */
const PREFIX = "syk_";

const SECRET_BYTES = 32;

/**
 * Command `switchyard key new NAME`: prints a new client key and its lines for the configuration
 * file.
 */
export const keyNew: Command = {
  name: "key new",
  about: "Prints a new client key, which is stored nowhere, and its lines for the file.",
  word: NAME,
  options: {},
  run(options, terminal) {
    const name = optionValue(options, NAME) ?? "";
    if (name.trim() === "") {
      return Promise.resolve(wrongUsage(terminal, "key new", "The name of the key is missing."));
    }
    const { secret, digest } = newSecret();
    terminal.out([
      `Secret of the client key, shown only here: ${secret}`,
      "",
      "Lines for the configuration file:",
      "",
      "security:",
      "  enabled: true",
      "  api_key:",
      "    keys:",
      `      - name: ${yamlText(name)}`,
      `        sha256: ${digest}`,
      "",
    ].join("\n"));
    return Promise.resolve(OK_STATUS);
  },
};

/** Returns a new secret and its SHA-256 digest. */
export function newSecret(): { readonly secret: string; readonly digest: string } {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  const secret = `${PREFIX}${bytes.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  return { secret, digest: createHash("sha256").update(secret).digest("hex") };
}
