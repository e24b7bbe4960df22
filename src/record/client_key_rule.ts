import { keyForms } from "../access/client_key_mask.ts";
import type { MaskingRule } from "./mask_text.ts";

/** Returns the rule that masks a client key in the texts of a stream, also in JSON in them. */
export function clientKeyRule(key: string): MaskingRule {
  const forms = keyForms(key);
  const maxChars = Math.max(...forms.map(({ length }) => length));
  return {
    name: "client_key",
    // Before all others: of equal matches its label counts.
    order: -1,
    phase: "response",
    action: "mask",
    except: new Set(),
    finders: [{
      label: "client_key",
      maxChars,
      find(text, from, to, found) {
        for (const form of forms) {
          for (let at = text.indexOf(form, from); at >= 0 && at < to;) {
            found(at, at + form.length);
            at = text.indexOf(form, at + form.length);
          }
        }
      },
      heldFrom(text) {
        let start = Math.max(0, text.length - maxChars + 1);
        while (!forms.some((form) => form.startsWith(text.slice(start)))) start++;
        return start;
      },
    }],
  };
}
