/** The variables that a file may name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** A text after expansion. */
export interface Expanded {
  readonly text: string;
  /** Variables without a value and without a default, each once. */
  readonly missing: readonly string[];
  /** What is wrong with a `${`; never holds a part of the text. */
  readonly problem: string | null;
}

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}]*))?\}|\$\{/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}`. The default also stands in for an empty value, as in a
 * shell; `$${` gives `${`; any other `$` stays. What was put in is not expanded again.
 */
export function expand(text: string, variables: Variables): Expanded {
  const missing = new Set<string>();
  let problem: string | null = null;
  const result = text.replace(REFERENCE, (whole, name, sign, fallback) => {
    if (whole === "$${") return "${";
    if (typeof name !== "string") {
      problem = "holds a ${ without a variable name and }; write $${ for a literal ${";
      return "";
    }
    if (typeof fallback === "string" && fallback.includes("${")) {
      problem = "holds a default with another ${ inside, which is not expanded";
      return "";
    }
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (sign === ":-") return value === undefined || value === "" ? String(fallback) : value;
    if (value === undefined) missing.add(name);
    return value ?? "";
  });
  return { text: result, missing: [...missing], problem };
}
