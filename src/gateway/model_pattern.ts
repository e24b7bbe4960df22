import type { ModelPattern } from "../call/model_pattern.ts";

/**
 * Returns the pattern of a model, in which `*` matches any text. Not a RegExp: with several `*` a
 * RegExp takes minutes over a long name, and names come from clients.
 */
export function compileModelPattern(glob: string): ModelPattern {
  const [first = "", ...inner] = glob.split("*");
  const last = inner.pop();
  if (last === undefined) return (model) => model === glob;
  return (model) => {
    if (!model.startsWith(first)) return false;
    let end = first.length;
    for (const part of inner) {
      const at = model.indexOf(part, end);
      if (at < 0) return false;
      end = at + part.length;
    }
    return model.length - last.length >= end && model.endsWith(last);
  };
}
