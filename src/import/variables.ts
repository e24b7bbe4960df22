import { createHash } from "node:crypto";
import { leavesOf, textOf, type Tree } from "./source.ts";

/** A secret of the source as the written file has it. */
export interface Secret {
  /** Text for the file, a variable; null if there is no secret. */
  readonly text: string | null;
  /** Text of the report; empty if it was a variable in the source too. */
  readonly note: string;
}

/** A client key of the source as the written file has it. */
export interface ClientSecret {
  /** Name of its member, and the text of that. */
  readonly member: "value" | "sha256";
  readonly text: string;
  /** Text of the report; empty if it was a variable in the source too. */
  readonly note: string;
}

/** The environment variables of the written file. */
export interface Variables {
  /** Returns a text for the file: references as `${NAME}`; any other `${` is escaped. */
  text(written: string, standIn?: string): string;
  /** Returns the name of the variable that a whole text refers to; null if it refers to none. */
  reference(written: string): string | null;
  /** Uses a variable that the source does not name. */
  use(name: string, standIn?: string): string;
  /**
   * Returns a secret: a reference stays one, a literal becomes a variable with a name like
   * `wanted`.
   */
  secret(written: string, wanted: string): Secret;
  /** Returns a client key: a reference, or the digest of a literal. */
  clientKey(written: string): ClientSecret;
  /**
   * Returns the names that were used without a reference and also given to a literal: the source is
   * read again with these taken.
   */
  collisions(): readonly string[];
  /** Returns a value for each variable with which the file can be checked. */
  standIns(): Readonly<Record<string, string>>;
  /** Returns the names of the variables of the file, sorted. */
  names(): readonly string[];
}

const REFERENCE = /^(?:os\.environ\/|env\.|\$)([A-Za-z_]\w*)$|^\$\{([A-Za-z_]\w*)(?::-[^}]*)?\}$/;

/** Beginning of a reference of LiteLLM, which may name a variable as no `${NAME}` can. */
const ENVIRON = "os.environ/";

/** Note of the report about a reference that {@link isUnnamed}. */
export const UNNAMED = "the name of its variable cannot be one here, so the file has another";

/** A reference of our loader inside a text, or another `${`. */
const INNER = /\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}|\$\{/g;

/**
 * Returns the variables of a source. The names to which the source refers, and those in `others`,
 * are given to no literal.
 */
export function newVariables(root: Tree, others: readonly string[] = []): Variables {
  const used = new Map<string, string>();
  const implied = new Set<string>();
  const references = leavesOf(root).map((leaf) => referenceIn(textOf(leaf) ?? ""));
  const taken = new Set([...others, ...references.filter((name) => name !== null)]);
  const literals = new Map<string, string>();

  function use(name: string, standIn = `value-of-${name}`): string {
    // A variable that is a part of an address must not get the value of a key.
    if (!used.has(name) || !standIn.startsWith("value-of-")) used.set(name, standIn);
    return `\${${name}}`;
  }

  /** Returns the variable for a text that the file does not have, with a name like `wanted`. */
  function variableFor(written: string, wanted: string): string {
    // Equal placeholders at two providers are no key of both.
    const place = isUnnamed(written) ? written : JSON.stringify([wanted, written]);
    const variable = literals.get(place) ?? freeName(wanted);
    literals.set(place, variable);
    return variable;
  }

  function freeName(wanted: string): string {
    let name = wanted;
    for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
    taken.add(name);
    return name;
  }

  return {
    use(name, standIn) {
      implied.add(name);
      return use(name, standIn);
    },
    collisions: () => [...literals.values()].filter((name) => implied.has(name)),
    reference: referenceIn,
    text(written, standIn) {
      const name = referenceIn(written);
      if (name !== null && !written.includes(":-")) return use(name, standIn);
      if (isUnnamed(written)) return use(variableFor(written, "IMPORTED_VALUE"), standIn);
      return written.replace(INNER, (piece) => {
        if (piece === "${") return "$${";
        const inner = /\w+/.exec(piece)?.[0] ?? "";
        use(inner, standIn);
        return piece;
      });
    },
    secret(written, wanted) {
      const name = referenceIn(written);
      if (name !== null) {
        const hasDefault = /:-[^}]/.test(written);
        const note = hasDefault ? `its default is left out of the file: set ${name}` : "";
        return { text: use(name), note };
      }
      const variable = variableFor(written, wanted);
      const note = isUnnamed(written)
        ? `set ${variable} to its value`
        : `a secret in the source: set ${variable} to it`;
      return { text: use(variable), note };
    },
    clientKey(written) {
      const name = referenceIn(written);
      if (name !== null) return { member: "value", text: use(name), note: "" };
      if (isUnnamed(written)) {
        const variable = variableFor(written, "MASTER_KEY");
        return { member: "value", text: use(variable), note: `set ${variable} to its value` };
      }
      const text = createHash("sha256").update(written).digest("hex");
      return { member: "sha256", text, note: "as its SHA-256 digest" };
    },
    standIns: () => Object.fromEntries(used),
    names: () => [...used.keys()].toSorted(),
  };
}

function referenceIn(written: string): string | null {
  const [, plain, braced] = REFERENCE.exec(written) ?? [];
  return plain ?? braced ?? null;
}

/** True for a reference of LiteLLM to a variable whose name `${NAME}` cannot have: its own may. */
export function isUnnamed(written: string): boolean {
  return written.startsWith(ENVIRON) && referenceIn(written) === null;
}

/** Returns the name of a variable made of an ID: `my-host` is `MY_HOST`. */
export function variableName(id: string, suffix: string): string {
  const word = id.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  return `${/^[A-Z]/.test(word) ? "" : "PROVIDER_"}${word}_${suffix}`;
}
