/** A file of the site: the text of a page, or null for any other file. */
export type SiteFiles = ReadonlyMap<string, string | null>;

/**
 * Returns the links of the pages that lead to no file of the site, or to no anchor of a page. Links
 * to other sites are not followed.
 */
export function brokenLinks(files: SiteFiles): readonly string[] {
  const anchors = new Map(
    [...files].map(([path, text]) => [path, new Set(attributes(text ?? "", "id"))]),
  );
  return [...files].flatMap(([path, text]) => {
    const links = [...attributes(text ?? "", "href"), ...attributes(text ?? "", "src")];
    return links.filter((link) => !/^(?:https?|mailto|data):/.test(link)).flatMap((link) => {
      const url = new URL(link, `file:///${path}`);
      const target = decodeURIComponent(url.pathname.slice(1));
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (!files.has(target)) return [`${path}: ${link}`];
      return anchor === "" || anchors.get(target)?.has(anchor) ? [] : [`${path}: ${link}`];
    });
  });
}

function attributes(text: string, name: string): readonly string[] {
  return [...text.matchAll(new RegExp(`<[a-z][^<>]* ${name}="([^"]*)"`, "g"))]
    .map(([, value = ""]) => value.replaceAll("&amp;", "&"));
}
