import { decodeHeaderText, encodeHeaderText } from "../core/header_fields.ts";
import { SECRET_NAME } from "../core/secret_name.ts";
import { decodeUriText } from "../core/uri_text.ts";

/** Masks the parts of a record, each as it is written. */
export interface PartMask {
  text(text: string): string;
  /** Masks the path of a URL. */
  path(path: string): string;
  header(value: string): string;
  /** Masks the query of a URL without its question mark. */
  query(query: string): string;
}

/** Returns what masks the parts of a record by what masks a text. */
export function newPartMask(mask: (text: string) => string): PartMask {
  /** Masks what percent signs encode. `encoded` is the part without other encodings. */
  function maskEncoded(part: string, encoded = part): string {
    const text = decodeUriText(encoded);
    const masked = mask(text);
    return masked === text ? part : encodeURIComponent(masked);
  }

  function maskParameter(part: string): string {
    const [name = ""] = part.split("=", 1);
    if (name !== part && SECRET_NAME.test(decodeUriText(name))) return `${name}=${SECRET_VALUE}`;
    // A plus sign is a blank, unless the client has not encoded it.
    const masked = maskEncoded(maskEncoded(part, part.replaceAll("+", " ")));
    // Of the first equals sign, which ends the name.
    return masked === part ? part : masked.replace("%3D", "=");
  }

  return {
    text: mask,
    path(path) {
      const parts = path.split("/").map((part) => part.includes("%") ? maskEncoded(part) : part);
      return mask(parts.join("/"));
    },
    header(value) {
      const text = decodeHeaderText(value);
      const masked = mask(text);
      return masked === text ? value : encodeHeaderText(masked);
    },
    query: (query) => query.split("&").map(maskParameter).join("&"),
  };
}

/** Value of a parameter whose name is that of a credential. */
const SECRET_VALUE = encodeURIComponent("[credential]");
