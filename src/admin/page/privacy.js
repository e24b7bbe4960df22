// @ts-check
import { counted, whole } from "./format.js";
import { Badge, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { PrivacyPolicyView, PrivacyRuleView, PrivacyView } from "../snapshot.ts" */

// What can be cut on a phone is last.
const RULE_COLUMNS = ["Rule", "#Found", "Action", "Phase", "Policies"];
const POLICY_COLUMNS = ["Policy", "Holds for", "Unread parts", "Rules"];

/** Returns the privacy rules with what they found, and the policies. */
export const Privacy = kept(
  /** @param {{ privacy: PrivacyView }} props */
  ({ privacy: { policies, rules, restored, unknown, unread } }) =>
    view`<${Section} id="privacy" title="Privacy" note="Counts of the last 15 minutes.">
    <dl>
      <div><dt>Came back in answers</dt><dd>${counted(restored, "value")}</dd></div>
      <div><dt>Unknown to the call</dt><dd>${counted(unknown, "token")}</dd></div>
      <div><dt>No rule can read</dt><dd>${counted(unread, "part")}</dd></div>
    </dl>
    <${Table} caption="Privacy rules" columns=${RULE_COLUMNS}>
      ${
      rules.map((rule) =>
        view`<${RuleRow} key=${rule.name} rule=${rule} policies=${policiesWith(rule, policies)} />`
      )
    }
      ${
      rules.length === 0 &&
      view`<${EmptyRow} columns=${RULE_COLUMNS.length}>There are no rules.<//>`
    }
    <//>
    <${Table} caption="Privacy policies" columns=${POLICY_COLUMNS}>
      ${policies.map((policy) => view`<${PolicyRow} key=${policy.name} policy=${policy} />`)}
    <//>
  <//>`,
);

/**
 * Returns the names of the policies that have a rule, in one text.
 * @param {PrivacyRuleView} rule
 * @param {readonly PrivacyPolicyView[]} policies
 */
function policiesWith({ name }, policies) {
  return policies.filter(({ rules }) => rules.includes(name)).map((one) => one.name).join(", ");
}

/** Row of a rule, drawn again when its data changed. */
const RuleRow = kept(
  /** @param {{ rule: PrivacyRuleView, policies: string }} props */
  ({ rule: { name, phase, action, matches }, policies }) =>
    view`<tr>
    <th scope="row"><${Name} text=${name} /></th>
    <td class="number">${whole(matches)}</td>
    <td>${action}</td>
    <td>${phase}</td>
    <td>${
      policies === ""
        ? view`<${Badge} tone="quiet">in no policy<//>`
        : view`<${Name} text=${policies} />`
    }</td>
  </tr>`,
);

/** Row of a policy, drawn again when its data changed. */
const PolicyRow = kept(
  /** @param {{ policy: PrivacyPolicyView }} props */
  ({ policy: { name, rules, isDefault, refusesUnread } }) =>
    view`<tr>
    <th scope="row"><${Name} text=${name} /></th>
    <td>${isDefault ? "every call" : "keys that select it"}</td>
    <td>${refusesUnread ? "refuse" : "allow"}</td>
    <td><${Name} text=${rules.join(", ")} /></td>
  </tr>`,
);
