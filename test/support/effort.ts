/** How much work a test does: the usual amount in `npm test`, the thorough one in `npm run fuzz` and `soak`. */

/** `thorough` when the run asks for it (`TIERGATE_EFFORT=thorough`), else `usual`. */
export function effort<Amount>(usual: Amount, thorough: Amount): Amount {
  return process.env['TIERGATE_EFFORT'] === 'thorough' ? thorough : usual;
}

/** How many clients at a load: as many as `TIERGATE_SOAK_CLIENTS` says, for a short look, else by the effort. */
export function clientCount(usual: number, thorough: number): number {
  return Number(process.env['TIERGATE_SOAK_CLIENTS'] ?? effort(usual, thorough));
}
