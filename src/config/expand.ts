/** Environment variables that a file can reference, by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:-)([^}]*))?\}|\$\{/g;

/**
 * Returns the text with `${NAME}` and `${NAME:-default}` replaced. The default also replaces an
 * empty value, as in a shell. `$${` becomes `${`; any other `$` is unchanged. Inserted values are
 * not expanded.
 */
export function expand(text: string, variables: Variables) {
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
  return {
    text: result, /** Variables without a value and without a default, each once. */
    missing: [
      ...missing,
    ], /** The problem of a malformed `${`. Never contains a part of the text. */
    problem,
  };
}
