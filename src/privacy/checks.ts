import type { CheckName } from "../config/privacy_schema.ts";

/** True if a text with its digits passes the check; other characters do not count. */
export type Check = (text: string) => boolean;

/** Multiplication in the group of the regular pentagon, and the permutation (Verhoeff, 1969). */
const PRODUCTS = [
  "0123456789",
  "1234067895",
  "2340178956",
  "3401289567",
  "4012395678",
  "5987604321",
  "6598710432",
  "7659821043",
  "8765932104",
  "9876543210",
];
const PERMUTATIONS = [
  "0123456789",
  "1576283094",
  "5803796142",
  "8916043527",
  "9453126870",
  "4286573901",
  "2793806415",
  "7046913258",
];

/** The checks by their names. */
export const CHECKS: Readonly<Record<CheckName, Check>> = {
  luhn: (text) =>
    digitsOf(text).toReversed().reduce((sum, digit, index) => {
          const twice = index % 2 === 0 ? digit : 2 * digit;
          return sum + (twice > 9 ? twice - 9 : twice);
        }, 0) % 10 === 0,
  // ISO 7064, MOD 97-10, in which letters are the numbers from 10 on.
  mod97: (text) => {
    const plain = text.replace(/[^0-9A-Za-z]/g, "");
    const turned = /^[A-Za-z]{2}/.test(plain) ? plain.slice(4) + plain.slice(0, 4) : plain;
    let rest = 0;
    for (const character of turned) {
      const value = parseInt(character, 36);
      rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
    }
    return rest === 1;
  },
  // Weights 1, 2, 3 and so on from the right, as in ISBN-10; the last character may be X.
  mod11: (text) => {
    const plain = text.replace(/[^0-9Xx]/g, "");
    const sum = [...plain].toReversed().reduce((total, character, index) => {
      const value = character === "X" || character === "x" ? 10 : Number(character);
      return total + value * (index + 1);
    }, 0);
    return sum % 11 === 0;
  },
  verhoeff: (text) =>
    digitsOf(text).toReversed().reduce((check, digit, index) => {
      const permuted = Number(PERMUTATIONS[index % 8]?.[digit]);
      return Number(PRODUCTS[check]?.[permuted]);
    }, 0) === 0,
};

function digitsOf(text: string): number[] {
  return [...text.replace(/\D/g, "")].map(Number);
}
