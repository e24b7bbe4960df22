/**
 * Returns the test of a text, such as the name of a model, by a pattern in which `*` matches any
 * text. Not a RegExp: with several `*` a RegExp takes minutes over a long name, and names come from
 * clients.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const [first = "", ...inner] = glob.split("*");
  const last = inner.pop();
  if (last === undefined) return (text) => text === glob;
  return (text) => {
    if (!text.startsWith(first)) return false;
    let end = first.length;
    for (const part of inner) {
      const at = text.indexOf(part, end);
      if (at < 0) return false;
      end = at + part.length;
    }
    return text.length - last.length >= end && text.endsWith(last);
  };
}
